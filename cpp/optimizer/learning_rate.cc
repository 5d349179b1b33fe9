// Implements the policies of PaddlePaddle's first trainer and two later ones.
// Noam: Vaswani et al. 2017; cosine: Loshchilov & Hutter 2017.
#include "optimizer/learning_rate.h"

#include <algorithm>
#include <cmath>

namespace paddle_mini {

double LearningRate::after(uint64_t updates, int64_t pass) const {
  constexpr double pi = 3.14159265358979323846;
  double t = static_cast<double>(updates) * samples_per_update;
  switch (policy) {
    case RatePolicy::Const: return rate;
    case RatePolicy::Linear: return std::max(rate - a * t, b);
    case RatePolicy::Poly: return rate * std::pow(1 + a * t, -b);
    case RatePolicy::CaffePoly: return t > a ? 0 : rate * std::pow(1 - t / a, b);
    case RatePolicy::Exp: return rate * std::pow(a, t / b);
    case RatePolicy::DiscExp: return rate * std::pow(a, std::floor(t / b));
    case RatePolicy::Manual: return rate * of_segment(t);
    case RatePolicy::PassManual: return rate * of_segment(static_cast<double>(pass));
    case RatePolicy::Noam: return rate / std::sqrt(a) * (t > 0 ? std::min(1 / std::sqrt(t), t * std::pow(b, -1.5)) : 0);
    case RatePolicy::Cosine: return t > a ? b : b + (rate - b) * (1 + std::cos(pi * t / a)) / 2;
  }
  return rate;
}

double LearningRate::of_segment(double at) const {
  for (const auto& [bound, rate_there] : segments) {
    if (at <= bound) return rate_there;
  }
  return segments.back().second;
}

}  // namespace paddle_mini
