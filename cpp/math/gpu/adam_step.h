// Adam's step with all scalars read in the kernel, including whether the step is skipped.
#pragma once

#include <tuple>
#include "math/adam_step.h"

namespace paddle_mini {

template <class T>
struct AdamUnless {
  AdamStep<T> step;
  bool stays;
  PM_HD std::tuple<T, T, T> operator()(T param, T moment1, T moment2, T gradient) const {
    if (stays) return {param, moment1, moment2};
    return step(param, moment1, moment2, gradient);
  }
};

template <class T>
struct AdamRule {
  static constexpr bool batchable = true, updates_parameter = true;
  ScalarArg<T> beta1, beta2, power1, power2, rate, epsilon;
  ScalarArg<bool> stays;
  PM_HD AdamUnless<T> bind_scalars() const {
    return {AdamStep<T>(beta1(), beta2(), power1(), power2(), rate(), epsilon()), stays()};
  }
};

// Computes the power of beta for the next step.
template <class T>
struct AdvancePower {
  static constexpr bool batchable = true;
  ScalarArg<T> beta;
  ScalarArg<bool> stays;
  PM_HD Times<T> bind_scalars() const { return {stays() ? T(1) : beta()}; }
};

}  // namespace paddle_mini
