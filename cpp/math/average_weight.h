// How much the newest parameters weigh in their average, for average_weight and for the C library (cpp/optimizer).
#pragma once

#include "math/average_state.h"

namespace paddle_mini {

// The average is a <- a + w (p - a) with the weight w worked out here, so a scheme is only a sequence of weights.
// With u updates so far, this one counted, of every k-th step, b the decay of k steps (Ruppert 1988, Polyak & Juditsky
// 1992; Shamir & Zhang 2013; Karras et al. 2024; Kingma & Ba 2015 for the correction; Defazio et al. 2024):
//   uniform      w = 1 / u
//   polynomial   w = (e + 1) / (u + e): the s-th step weighs about s^e
//   power        w = 1 - (1 - 1/u)^(e + 1): the part before s of all weights is (s/u)^(e + 1)
//   exponential  w = (1 - b_u) / (1 - b_1 ... b_u): unbiased from the first update on; without correction 1 - b_u after
//                a first weight of 1
//   window       w = 1 / n for the n-th parameters of this generation
//   constant     w = 1 - b from the first update on, upon what the average was before
//   falling      w = (l + r (u - 1))^-e after a first weight of 1 (Block & Zhang 2025)
//   first        w = 1 once, then 0: the parameters where averaging began
//   rate         w = g_u^2 / (g_1^2 + ... + g_u^2) with the largest learning rate g so far
enum class WeightScheme { Window, Uniform, Polynomial, Power, Exponential, Constant, Falling, First, Rate };
const char* const kWeightSchemes[] = {"window",   "uniform", "polynomial", "power", "exponential",
                                      "constant", "falling", "first",      "rate"};
enum class DecayWarmup { None, Ratio, Power };
const char* const kDecayWarmups[] = {"none", "ratio", "power"};

// What the attributes of average_weight say.
struct WeightRule {
  WeightScheme scheme = WeightScheme::Window;
  DecayWarmup warmup = DecayWarmup::None;
  int64_t window_min = 1, window_max = 1, every = 1, start_step = 0;
  double window_rate = 1, decay = 0, exponent = 0, warmup_length = 1, warmup_rate = 1, warmup_power = 2.0 / 3;
  bool corrected = true;
};

// One step. It is one thread's work, wherever counters and state are, so that nobody waits for them.
struct WeightStep {
  WeightRule rule;
  const int64_t* counters;
  const double* state;
  Uniform<bool> updated, finite;
  Uniform<double> learning_rate;
  int64_t* count;
  double *kept, *weight;
  int32_t* roll;

  PM_HD void operator()(int64_t) const {
    for (int i = 0; i < kAverageCounters; ++i) count[i] = counters[i];
    for (int i = 0; i < kAverageState; ++i) kept[i] = state[i];
    *weight = 0;
    *roll = 0;
    if (!updated()) return;
    ++count[kSteps];
    kept[kAge] += 1;
    kept[kOlderAge] += 1;
    if (!finite()) {
      ++count[kSkipped];
      return;
    }
    int64_t step = count[kSteps] - rule.start_step;
    bool counts = step > 0 && step % rule.every == 0;
    if (counts) ++count[kUpdates];
    // Until there is a first update the average is the parameter itself.
    double w = 0;
    if (counts) w = weight_of_update();
    else if (count[kUpdates] == 0 && rule.scheme != WeightScheme::Constant) w = 1;
    *weight = w;
    if (count[kUpdates] > 0) kept[kLogKept] += w == 1 ? kForget : std::log1p(-w);
    note_members(w);
    if (counts && rule.scheme == WeightScheme::Window) end_generation();
  }

  PM_HD double weight_of_update() const {
    double u = static_cast<double>(count[kUpdates]);
    switch (rule.scheme) {
      case WeightScheme::Uniform: return 1 / u;
      case WeightScheme::Polynomial: return (rule.exponent + 1) / (u + rule.exponent);
      case WeightScheme::Power: return -std::expm1((rule.exponent + 1) * std::log1p(-1 / u));
      case WeightScheme::Constant: return -std::expm1(log_decay(u));
      case WeightScheme::First: return u == 1 ? 1.0 : 0.0;
      case WeightScheme::Falling:
        return u == 1 ? 1.0 : std::pow(rule.warmup_length + rule.warmup_rate * (u - 1), -rule.warmup_power);
      case WeightScheme::Rate: return rate_weight();
      case WeightScheme::Window: return 1 / static_cast<double>(++count[kNewer]);
      case WeightScheme::Exponential: break;
    }
    double log = log_decay(u);
    kept[kLogDecay] += log;
    if (rule.corrected) return std::expm1(log) / std::expm1(kept[kLogDecay]);
    return u == 1 ? 1.0 : -std::expm1(log);
  }

  // log b_u; expm1 keeps all digits of 1 - b where b is close to 1. Warming up, a short history is forgotten faster.
  PM_HD double log_decay(double u) const {
    double step = u * static_cast<double>(rule.every), b = rule.decay;
    if (rule.warmup == DecayWarmup::Ratio) b = std::min(b, (1 + step) / (10 + step));
    if (rule.warmup == DecayWarmup::Power) {
      b = std::min(b, 1 - std::pow(1 + step / rule.warmup_length, -rule.warmup_power));
    }
    return std::log(b) * static_cast<double>(rule.every);
  }

  PM_HD double rate_weight() const {
    kept[kRateMost] = std::max(kept[kRateMost], learning_rate());
    double square = kept[kRateMost] * kept[kRateMost];
    kept[kRateSum] += square;
    return kept[kRateSum] > 0 ? square / kept[kRateSum] : 1.0;
  }

  PM_HD void note_members(double w) const {
    kept[kSquares] = (1 - w) * (1 - w) * kept[kSquares] + w * w;
    kept[kAge] *= 1 - w;
  }

  PM_HD void end_generation() const {
    double wanted =
        std::min(static_cast<double>(rule.window_max), static_cast<double>(count[kUpdates]) * rule.window_rate);
    if (count[kNewer] < rule.window_min || static_cast<double>(count[kNewer]) < wanted) return;
    *roll = 1;
    count[kOlder] = count[kNewer];
    count[kNewer] = 0;
    kept[kOlderAge] = kept[kAge];
  }
};

}  // namespace paddle_mini
