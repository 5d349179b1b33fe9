// The kernels of lamb on a GPU.
#pragma once

#include "math/gpu/adam_step.h"

namespace paddle_mini {
namespace {

template <class T>
struct LambRule {
  T beta1, beta2;
  Uniform<T> power1, power2;
  T epsilon, decay;
  PM_HD LambStep<T> ready() const { return {beta1, beta2, T(1) - power1(), T(1) - power2(), epsilon, decay}; }
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
  Uniform<bool> stays;
  PM_HD LambMoments<T> ready() const { return {rule.ready(), stays()}; }
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
  PM_HD LambSquare<T> ready() const { return {rule.ready()}; }
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
  Uniform<T> rate;
  const double* squares;  // of the parameter and of the direction; none: the step has the rate's length
  Uniform<bool> stays;
  PM_HD LambMove<T> ready() const {
    T ratio = T(1);
    if (squares && squares[0] > 0 && squares[1] > 0) {
      ratio = static_cast<T>(std::sqrt(squares[0]) / std::sqrt(squares[1]));
    }
    return {rule.ready(), rate() * ratio, stays()};
  }
};

template <class T>
void LambKernel<T>::run(Device& device) {
  LambRule<T> rule{beta1, beta2, beta1_power, beta2_power, epsilon, decay};
  Uniform<bool> stays = uniform_or(skip_update, false);
  int64_t n = param.numel();
  const T *m = moment1_out.data(), *v = moment2_out.data();
  map(device, n, LambMomentsRule<T>{rule, stays}, std::tuple(moment1_out.data(), moment2_out.data()), moment1.data(),
      moment2.data(), grad.data());
  if (adapts) {
    sum_to(device, n, Squared{}, squares.data(), param.data());
    sum_to(device, n, LambSquareRule<T>{rule}, squares.data() + 1, param.data(), m, v);
  }
  LambMoveRule<T> move{rule, learning_rate, adapts ? squares.data() : nullptr, stays};
  map(device, n, move, param_out.data(), param.data(), m, v);
  if (beta1_power_out) map(device, 1, AdvancePower<T>{beta1, stays}, beta1_power_out.data(), beta1_power.data());
  if (beta2_power_out) map(device, 1, AdvancePower<T>{beta2, stays}, beta2_power_out.data(), beta2_power.data());
}

}  // namespace
}  // namespace paddle_mini
