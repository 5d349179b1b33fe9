// GPU kernels of all_finite.
#pragma once

#include "math/copy.h"
#include "math/gpu/not_finite.h"
#include "math/batch_launches.h"

namespace paddle_mini {
namespace {

template <class T>
void AllFiniteKernel<T>::run(KernelContext& context) {
  fill_n(context, out.data(), 1, true);
  batch_launches(context, [&] {
    for (const In<T>& one : x) flag_not_finite(context, one.numel(), one.data(), out.data(), false);
  });
}

}  // namespace
}  // namespace paddle_mini
