// Adam's step on one element, for every operator that takes it.
#pragma once

#include <tuple>

#include "math/arithmetic.h"
#include "math/vec.h"

namespace paddle_mini {

// Kingma & Ba 2015, in the order of computation of its section 2: the corrections of both moments
// are folded into the rate and into epsilon.
template <class T>
struct AdamStep {
  T beta1, beta2, rate, epsilon;

  PM_HD AdamStep(T beta1, T beta2, T beta1_power, T beta2_power, T learning_rate, T plain_epsilon)
      : beta1(beta1), beta2(beta2), rate(learning_rate * std::sqrt(T(1) - beta2_power) / (T(1) - beta1_power)),
        epsilon(plain_epsilon * std::sqrt(T(1) - beta2_power)) {}

  template <class V>
  PM_HD std::tuple<V, V, V> operator()(V param, V moment1, V moment2, V gradient) const {
    V m = V(beta1) * moment1 + V(T(1) - beta1) * gradient;
    V v = V(beta2) * moment2 + V(T(1) - beta2) * gradient * gradient;
    return {param - V(rate) * (m / (sqrt(v) + V(epsilon))), m, v};
  }
};

#ifdef PM_GPU  // where all numbers are read in the kernel, and whether the step is taken

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
  static constexpr bool in_batches = true;
  Uniform<T> beta1, beta2, power1, power2, rate, epsilon;
  Uniform<bool> stays;
  PM_HD AdamUnless<T> ready() const {
    return {AdamStep<T>(beta1(), beta2(), power1(), power2(), rate(), epsilon()), stays()};
  }
};

// A power of beta in the next step.
template <class T>
struct AdvancePower {
  static constexpr bool in_batches = true;
  Uniform<T> beta;
  Uniform<bool> stays;
  PM_HD Times<T> ready() const { return {stays() ? T(1) : beta()}; }
};
#endif

}  // namespace paddle_mini
