// The kernels of one_hot_v2 on a CPU.
#pragma once

#include "math/copy.h"

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
void OneHotKernel<T>::run(KernelContext& context) {
  for (int64_t i = 0, n = x.numel(); i < n && !anything; ++i) {
    if (x[i] < 0 || x[i] >= depth) refuse_position(x[i], i, depth);
  }
  fill_n(context, out.data(), out.numel(), T(0));
  each_item(context, {x.numel(), 2}, [&](int64_t i) {
    if (x[i] >= 0 && x[i] < depth) out[i * depth + x[i]] = T(1);
  });
}

}  // namespace
}  // namespace paddle_mini
