// Adam's step on one element, for all operators that use it.
#pragma once

#include <tuple>

#include "math/arithmetic.h"
#include "math/vec.h"

namespace paddle_mini {

// Kingma & Ba 2015, in the efficient order of its section 2: the bias corrections of both moments are folded into the
// rate and into epsilon.
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

}  // namespace paddle_mini
