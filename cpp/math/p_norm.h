// The p-norm of a row of numbers, (sum of |v|^p)^(1/p), and its derivative.
#pragma once

#include <cmath>
#include <limits>

#include "math/vec.h"

namespace paddle_mini {

class PNorm {
 public:
  // Infinite p: the largest or the smallest |v|; p = 0: the number of nonzero v.
  PNorm(float p, float epsilon) : p_(p), epsilon_(epsilon) {
    if (p == 0) order_ = Order::Zero;
    else if (std::isinf(p)) order_ = p > 0 ? Order::Largest : Order::Smallest;
  }

  // Usage: start with first(), update the sum by a step for each number; of(sum) is the norm.
  PM_HD double first() const { return order_ == Order::Smallest ? std::numeric_limits<double>::infinity() : 0.0; }

  // Calls f(step), where step(sum, v) adds v. One call per row keeps the branch on p out of the loop.
  template <class F>
  void with_step(F f) const {
    if (order_ == Order::Zero) f([](double sum, double v) { return sum + (v != 0 ? 1 : 0); });
    else if (order_ == Order::Largest) f([](double most, double v) { return maximum(most, std::abs(v)); });
    else if (order_ == Order::Smallest) f([](double least, double v) { return minimum(least, std::abs(v)); });
    else if (p_ == 1) f([](double sum, double v) { return sum + std::abs(v); });
    else if (p_ == 2) f([](double sum, double v) { return sum + v * v; });
    else f([p = p_](double sum, double v) { return sum + std::pow(std::abs(v), p); });
  }

  // term(v) is one number's contribution; join combines two sums.
  PM_HD double term(double v) const {
    if (order_ == Order::Zero) return v != 0 ? 1 : 0;
    if (order_ != Order::Power || p_ == 1) return std::abs(v);
    return p_ == 2 ? v * v : std::pow(std::abs(v), p_);
  }
  PM_HD double join(double a, double b) const {
    return order_ == Order::Largest ? maximum(a, b) : order_ == Order::Smallest ? minimum(a, b) : a + b;
  }

  PM_HD double of(double sum) const {
    if (order_ != Order::Power || p_ == 1) return sum;
    return p_ == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p_);
  }

  // The norm has no derivative at 0; 0 is used there.
  PM_HD double slope(double v, double norm) const {
    if (order_ == Order::Zero || v == 0) return 0;
    if (order_ != Order::Power) return std::abs(v) == norm ? sign(v) : 0;
    if (p_ == 1) return sign(v) / (1 + epsilon_);
    if (p_ == 2) return v / (norm + epsilon_);
    return sign(v) * std::pow(std::abs(v), p_ - 1) / (std::pow(norm, p_ - 1) + epsilon_);
  }

 private:
  enum class Order { Zero, Largest, Smallest, Power };

  double p_, epsilon_;
  Order order_ = Order::Power;
};

}  // namespace paddle_mini
