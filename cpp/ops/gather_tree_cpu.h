// CPU kernels of gather_tree.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void GatherTreeKernel<T>::run(KernelContext&) {
  int64_t step_size = batch * beams, n = ids.numel();
  // The parents of the first step are not used.
  for (int64_t i = step_size; i < n; ++i) {
    if (parents[i] < 0 || parents[i] >= beams) refuse_parent(parents[i], i);
  }
  for (int64_t i = 0; i < step_size; ++i) {
    int64_t first = i / beams * beams, at = i - first;
    for (int64_t step = steps - 1; step >= 0; --step) {
      int64_t from = step * step_size + first + at;
      out[step * step_size + i] = ids[from];
      at = step > 0 ? parents[from] : 0;
    }
  }
}

}  // namespace
}  // namespace paddle_mini
