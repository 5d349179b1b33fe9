// The kernels of all_finite on a GPU.
#pragma once

#include "math/copy.h"
#include "math/gpu/not_finite.h"
#include "math/together.h"

namespace paddle_mini {
namespace {

template <class T>
void AllFiniteKernel<T>::run(Device& device) {
  fill_n(device, out.data(), 1, true);
  together(device, [&] {
    for (const In<T>& one : x) flag_not_finite(device, one.numel(), one.data(), out.data(), false);
  });
}

}  // namespace
}  // namespace paddle_mini
