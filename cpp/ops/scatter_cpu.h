// The kernel of scatter on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void ScatterKernel<T>::run(KernelContext& context) {
  check_slabs(rows);
  if (out.data() != x.data()) std::copy_n(x.data(), x.numel(), out.data());
  if (overwrite) {
    each_slab_apart(context, rows, sizeof(T), [this](int64_t from, int64_t at, int64_t width) {
      std::copy_n(updates.data() + from, width, out.data() + at);
    });
  } else {
    zero_slabs(context, rows, out.data());
    add_to_slabs<T>(context, rows, by_row, out.data(), updates.data(), out.data());
  }
}

}  // namespace
}  // namespace paddle_mini
