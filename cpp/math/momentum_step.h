// The momentum step on one element, for all operators that use it.
#pragma once

#include <tuple>

#include "math/scalar_arg.h"
#include "math/vec.h"

namespace paddle_mini {

// Polyak 1964; with `nesterov` the step looks ahead along the velocity (Nesterov 1983, as in Sutskever et al. 2013).
// `decay` adds L2 regularization, decay * param, to the gradient.
template <class T>
struct MomentumStep {
  T mu, rate, decay;
  bool nesterov;

  template <class V>
  PM_HD std::tuple<V, V> operator()(V param, V velocity, V gradient) const {
    V g = decay == T(0) ? gradient : gradient + V(decay) * param;
    V v = V(mu) * velocity + g;
    V step = nesterov ? g + V(mu) * v : v;
    return {param - V(rate) * step, v};
  }
};

template <class T>
struct MomentumRule {
  static constexpr bool batchable = true, updates_parameter = true;
  T mu;
  ScalarArg<T> rate;
  T decay;
  bool nesterov;

  PM_HD MomentumStep<T> bind_scalars() const { return {mu, rate(), decay, nesterov}; }
};

// With a factor on the gradient.
template <class Step, class T>
struct MomentumScaled {
  static constexpr bool batchable = true;
  Step step;
  T factor;
  PM_HD auto bind_scalars() const {
    auto made = step.bind_scalars();
    return MomentumScaled<decltype(made), T>{made, factor};
  }
};
template <class T>
struct MomentumScaled<MomentumStep<T>, T> {
  MomentumStep<T> step;
  T factor;
  template <class V>
  PM_HD std::tuple<V, V> operator()(V p, V v, V g) const {
    return step(p, v, V(factor) * g);
  }
};

}  // namespace paddle_mini
