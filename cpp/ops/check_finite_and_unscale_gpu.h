// GPU kernels of check_finite_and_unscale.
#pragma once

#include "math/arithmetic.h"
#include "math/for_each_index.h"
#include "math/gpu/not_finite.h"
#include "math/batch_launches.h"

namespace paddle_mini {
namespace {

// Whether this X or an earlier one contains an element that is not finite.
struct InfiniteSoFar {
  const bool* infinite;
  bool *so_far, *found;
  int64_t count;

  PM_HD void operator()(int64_t i) const {
    bool any = false;
    for (int64_t k = 0; k <= i; ++k) any = any || infinite[k];
    so_far[i] = any;
    if (i == count - 1) *found = any;
  }
};

template <class T>
struct Unscale {
  static constexpr bool batchable = true;
  ScalarArg<T> scale;
  const bool* infinite;
  PM_HD Times<T> bind_scalars() const { return {*infinite ? T(0) : T(1) / scale()}; }
};

template <class T>
void CheckFiniteAndUnscaleKernel<T>::run(KernelContext& context) {
  int64_t count = static_cast<int64_t>(xs.size());
  fill_n(context, infinite.data(), count, false);
  batch_launches(context, [&] {
    for (size_t i = 0; i < xs.size(); ++i) {
      flag_not_finite(context, xs[i].numel(), xs[i].data(), infinite.data() + i, true);
    }
  });
  for_each_index(context, count, InfiniteSoFar{infinite.data(), so_far.data(), found.data(), count});
  batch_launches(context, [&] {
    for (size_t i = 0; i < xs.size(); ++i) {
      map(context, xs[i].numel(), Unscale<T>{scale, so_far.data() + i}, outs[i].data(), xs[i].data());
    }
  });
}

}  // namespace
}  // namespace paddle_mini
