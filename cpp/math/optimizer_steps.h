// Optimizer steps on one element, for the operators and for the C library (cpp/optimizer).
#pragma once

#include <random>
#include <tuple>

#include "math/adam_step.h"
#include "math/momentum_step.h"
#include "math/proximal.h"

namespace paddle_mini {

template <class T>
struct SgdStep {
  T rate;
  template <class V>
  PM_HD V operator()(V p, V g) const {
    return p - V(rate) * g;
  }
};

// Zeiler 2012.
template <class T>
struct AdadeltaStep {
  T rho, epsilon, rate;

  template <class V>
  PM_HD std::tuple<V, V, V> operator()(V param, V squared_grad, V squared_update, V gradient) const {
    V g = V(rho) * squared_grad + V(T(1) - rho) * gradient * gradient;
    V update = -(sqrt((squared_update + V(epsilon)) / (g + V(epsilon))) * gradient);
    V u = V(rho) * squared_update + V(T(1) - rho) * update * update;
    return {param + V(rate) * update, g, u};
  }
};

// Duchi, Hazan & Singer 2011.
template <class T>
struct AdagradStep {
  T rate, epsilon;

  template <class V>
  PM_HD std::tuple<V, V> operator()(V param, V moment, V gradient) const {
    V m = moment + gradient * gradient;
    return {param - V(rate) * gradient / (sqrt(m) + V(epsilon)), m};
  }
};

template <class T>
struct DecayedAdagradStep {
  T decay, epsilon, rate;

  template <class V>
  PM_HD std::tuple<V, V> operator()(V param, V moment, V gradient) const {
    V m = V(decay) * moment + V(T(1) - decay) * gradient * gradient;
    return {param - V(rate) * gradient / (sqrt(m) + V(epsilon)), m};
  }
};

// Kingma & Ba 2015, section 7.1; epsilon is added to the decayed norm, as in PaddlePaddle.
template <class T>
struct AdamaxStep {
  T beta1, beta2, epsilon, rate;

  template <class V>
  PM_HD std::tuple<V, V, V> operator()(V param, V moment, V norm, V gradient) const {
    V m = V(beta1) * moment + V(T(1) - beta1) * gradient;
    V u = maximum(abs(gradient), V(beta2) * norm + V(epsilon));
    return {param - V(rate) * (m / u), m, u};
  }
};

// Tieleman & Hinton 2012; centered as in Graves 2013: divides by the standard deviation, not the root mean square.
template <class T>
struct RmspropStep {
  T decay, momentum, epsilon, rate;

  template <class V>
  PM_HD std::tuple<V, V, V> operator()(V param, V square, V moment, V gradient) const {
    V s = V(decay) * square + V(T(1) - decay) * gradient * gradient;
    V m = V(momentum) * moment + V(rate) * gradient / sqrt(s + V(epsilon));
    return {param - m, s, m};
  }

  template <class V>
  PM_HD std::tuple<V, V, V, V> operator()(V param, V square, V moment, V mean, V gradient) const {
    V s = V(decay) * square + V(T(1) - decay) * gradient * gradient;
    V g = V(decay) * mean + V(T(1) - decay) * gradient;
    V m = V(momentum) * moment + V(rate) * gradient / sqrt(s - g * g + V(epsilon));
    return {param - m, s, m, g};
  }
};

// McMahan et al. 2013, algorithm 1, with n^-lr_power where the paper has sqrt(n).
template <class T>
struct FtrlStep {
  T l1, l2, rate, power;

  template <class V>
  PM_HD V power_of(V sum) const {
    if (power == T(0.5)) return sqrt(sum);
    return each_lane(sum, [k = power](T number) { return std::pow(number, k); });
  }

  template <class V>
  PM_HD std::tuple<V, V, V> operator()(V param, V squared, V linear, V gradient) const {
    V s = squared + gradient * gradient;
    V root = power_of(s);
    V l = linear + gradient - (root - power_of(squared)) / V(rate) * param;
    V p = (sign(l) * V(l1) - l) / (root / V(rate) + V(T(2) * l2));
    return {select(abs(l) > V(l1), p, V(T(0))), s, l};
  }
};

// You et al. 2020, algorithm 2.
template <class T>
struct LambStep {
  T beta1, beta2, correction1, correction2, epsilon, decay;

  template <class V>
  PM_HD std::tuple<V, V> operator()(V moment1, V moment2, V gradient) const {
    return {V(beta1) * moment1 + V(T(1) - beta1) * gradient,
            V(beta2) * moment2 + V(T(1) - beta2) * gradient * gradient};
  }

  template <class V>
  PM_HD V direction(V param, V moment1, V moment2) const {
    V m = moment1 / V(correction1), v = moment2 / V(correction2);
    return m / (sqrt(v) + V(epsilon)) + V(decay) * param;
  }
};

// The velocity includes the learning rate; the step does not apply it again.
template <class T>
struct LarsStep {
  T mu, rate, rescale, decay;

  template <class V>
  PM_HD std::tuple<V, V> operator()(V param, V velocity, V gradient) const {
    V v = V(mu) * velocity + V(rate) * (V(rescale) * gradient + V(decay) * param);
    return {param - v, v};
  }
};

template <class T>
struct ScaledSquare {
  T scale;
  template <class V>
  PM_HD V operator()(V v) const {
    V g = V(scale) * v;
    return g * g;
  }
};

// You, Gitman & Ginsburg 2017, algorithm 1.
template <class T>
struct LarsRule {
  T mu, coefficient, epsilon, rescale, decay;
  ScalarArg<T> rate;
  const double* squares;  // sums of squares of the parameter and of the gradient; read only if there is decay

  PM_HD LarsStep<T> bind_scalars() const { return {mu, local_rate(), rescale, decay}; }

  PM_HD T local_rate() const {
    T plain = rate();
    if (!(decay > T(0))) return plain;
    T param_norm = static_cast<T>(std::sqrt(squares[0])), grad_norm = static_cast<T>(std::sqrt(squares[1]));
    if (!(param_norm > T(0) && grad_norm > T(0))) return plain;
    return plain * coefficient * param_norm / (grad_norm + decay * param_norm + epsilon);
  }
};

template <class T>
struct ProximalGdStep {
  T rate;
  Proximal<T> proximal;

  template <class V>
  PM_HD V operator()(V param, V gradient) const {
    return proximal(param - V(rate) * gradient);
  }
};

template <class T>
struct ProximalAdagradStep {
  T rate;
  Proximal<T> proximal;

  template <class V>
  PM_HD std::tuple<V, V> operator()(V param, V moment, V gradient) const {
    V m = moment + gradient * gradient;
    return {proximal(param - V(rate) * gradient / sqrt(m)), m};
  }
};

// Loshchilov & Hutter 2019: weight decay separate from the gradient.
template <class T>
struct AdamwStep {
  AdamStep<T> adam;
  T decay;

  template <class V>
  PM_HD std::tuple<V, V, V> operator()(V param, V moment1, V moment2, V gradient) const {
    return adam(param - V(decay) * param, moment1, moment2, gradient);
  }
};

template <class T>
struct DpsgdStep {
  T rate, divisor, noise;
  template <class V>
  PM_HD V operator()(V param, V gradient) const {
    return param - V(rate) * (gradient / V(divisor) + V(noise));
  }
};

template <class T>
struct DpsgdRule {
  ScalarArg<T> rate;
  const double* squares;  // sum of squares of the gradient
  T clip, noise;
  PM_HD DpsgdStep<T> bind_scalars() const {
    T norm = static_cast<T>(std::sqrt(*squares));
    return {rate(), norm > clip ? norm / clip : T(1), noise};
  }
};

// Draws one normal number by Marsaglia's polar method, from the same generator and in the same order as PaddlePaddle,
// so that equal seeds give equal numbers; float32 for every dtype.
inline float one_normal(uint32_t seed) {
  std::minstd_rand generator(seed);
  std::uniform_real_distribution<float> uniform(0, 1);
  float x, y, square;
  do {
    x = 2 * uniform(generator) - 1;
    y = 2 * uniform(generator) - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  return x * std::sqrt(-2 * std::log(square) / square);
}

}  // namespace paddle_mini
