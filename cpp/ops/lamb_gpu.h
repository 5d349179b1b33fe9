// GPU kernels of lamb.
#pragma once

#include "math/gpu/adam_step.h"

namespace paddle_mini {
namespace {

template <class T>
struct LambRule {
  T beta1, beta2;
  ScalarArg<T> power1, power2;
  T epsilon, decay;
  PM_HD LambStep<T> bind_scalars() const { return {beta1, beta2, T(1) - power1(), T(1) - power2(), epsilon, decay}; }
};

template <class T>
struct LambMoments {
  LambStep<T> step;
  bool stays;
  PM_HD std::tuple<T, T> operator()(T moment1, T moment2, T gradient) const {
    if (stays) return {moment1, moment2};
    return step(moment1, moment2, gradient);
  }
};
template <class T>
struct LambMomentsRule {
  LambRule<T> rule;
  ScalarArg<bool> stays;
  PM_HD LambMoments<T> bind_scalars() const { return {rule.bind_scalars(), stays()}; }
};

template <class T>
struct LambSquare {
  LambStep<T> step;
  PM_HD T operator()(T param, T moment1, T moment2) const {
    T d = step.direction(param, moment1, moment2);
    return d * d;
  }
};
template <class T>
struct LambSquareRule {
  LambRule<T> rule;
  PM_HD LambSquare<T> bind_scalars() const { return {rule.bind_scalars()}; }
};

template <class T>
struct LambMove {
  LambStep<T> step;
  T rate;
  bool stays;
  PM_HD T operator()(T param, T moment1, T moment2) const {
    return stays ? param : param - rate * step.direction(param, moment1, moment2);
  }
};
template <class T>
struct LambMoveRule {
  LambRule<T> rule;
  ScalarArg<T> rate;
  const double* squares;  // squared norms of parameter and direction; nullptr: ratio 1
  ScalarArg<bool> stays;
  PM_HD LambMove<T> bind_scalars() const {
    T ratio = T(1);
    if (squares && squares[0] > 0 && squares[1] > 0) {
      ratio = static_cast<T>(std::sqrt(squares[0]) / std::sqrt(squares[1]));
    }
    return {rule.bind_scalars(), rate() * ratio, stays()};
  }
};

template <class T>
void LambKernel<T>::run(KernelContext& context) {
  LambRule<T> rule{beta1, beta2, beta1_power, beta2_power, epsilon, decay};
  ScalarArg<bool> stays = scalar_or(skip_update, false);
  int64_t n = param.numel();
  const T *m = moment1_out.data(), *v = moment2_out.data();
  map(context, n, LambMomentsRule<T>{rule, stays}, std::tuple(moment1_out.data(), moment2_out.data()), moment1.data(),
      moment2.data(), grad.data());
  if (adapts) {
    sum_to(context, n, Squared{}, squares.data(), param.data());
    sum_to(context, n, LambSquareRule<T>{rule}, squares.data() + 1, param.data(), m, v);
  }
  LambMoveRule<T> move{rule, learning_rate, adapts ? squares.data() : nullptr, stays};
  map(context, n, move, param_out.data(), param.data(), m, v);
  if (beta1_power_out) map(context, 1, AdvancePower<T>{beta1, stays}, beta1_power_out.data(), beta1_power.data());
  if (beta2_power_out) map(context, 1, AdvancePower<T>{beta2, stays}, beta2_power_out.data(), beta2_power.data());
}

}  // namespace
}  // namespace paddle_mini
