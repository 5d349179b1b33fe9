// The kernels of sequence_mask on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
template <class M>
void SequenceMaskKernel<T>::fill(KernelContext&) {
  M* to = mask->tensor.as<M>();
  for (int64_t i = 0; i < x.numel(); ++i, to += longest) {
    int64_t ones = count_below(x[i], longest);
    std::fill_n(to, ones, M(1));
    std::fill_n(to + ones, longest - ones, M(0));
  }
}

}  // namespace
}  // namespace paddle_mini
