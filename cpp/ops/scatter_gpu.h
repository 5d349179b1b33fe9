// The kernel of scatter on a GPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void ScatterKernel<T>::run(KernelContext& context) {
  using Combine = SegmentedScatter::Combine;
  by_row.sort(context, positions_of(context, rows));
  const T *before = x.data(), *from = updates.data();
  if (overwrite) by_row.put<Combine::Last>(context, 1, rows.length, rows.width, before, from, out.data());
  else by_row.put<Combine::SumInstead>(context, 1, rows.length, rows.width, before, from, out.data());
}

}  // namespace
}  // namespace paddle_mini
