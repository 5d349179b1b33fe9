// The kernels of sequence_mask on a CPU.
#pragma once

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
template <class M>
void SequenceMaskKernel<T>::fill(KernelContext& context) {
  M* const first = mask->tensor.as<M>();
  each_item(context, {x.numel(), bytes_cost(sizeof(M)) * static_cast<double>(longest)}, [&](int64_t i) {
    M* to = first + i * longest;
    int64_t ones = count_below(x[i], longest);
    std::fill_n(to, ones, M(1));
    std::fill_n(to + ones, longest - ones, M(0));
  });
}

}  // namespace
}  // namespace paddle_mini
