// CPU kernels of all_finite.
#pragma once

#include "math/finite.h"

namespace paddle_mini {
namespace {

template <class T>
void AllFiniteKernel<T>::run(KernelContext& context) {
  out[0] =
      std::all_of(x.begin(), x.end(), [&](const In<T>& one) { return all_finite(context, one.numel(), one.data()); });
}

}  // namespace
}  // namespace paddle_mini
