// GPU kernels of allclose.
#pragma once

#include "math/copy.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

// All threads that find different numbers write the same value.
template <class T>
struct FlagApart {
  ScalarArg<double> rtol, atol;
  bool equal_nan;
  const T *input, *other;
  bool* close;
  PM_HD void operator()(int64_t i) const {
    if (!IsClose<T>{rtol(), atol(), equal_nan}(input[i], other[i])) *close = false;
  }
};

template <class T>
void AllcloseKernel<T>::run(KernelContext& context) {
  fill_n(context, out.data(), 1, true);
  FlagApart<T> flag{scalar_or(this->rtol_in, this->rtol),
                    scalar_or(this->atol_in, this->atol),
                    this->equal_nan,
                    this->input.data(),
                    this->other.data(),
                    out.data()};
  for_each_index(context, this->input.numel(), flag);
}

}  // namespace
}  // namespace paddle_mini
