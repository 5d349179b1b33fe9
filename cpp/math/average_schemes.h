// Averaging schemes, one table row each: the weight of the newest parameters in their average.
#pragma once

#include <vector>

#include "math/average_rule.h"
#include "math/average_state.h"

namespace paddle_mini {

// In each update the average becomes a + w (p - a) with the weight w, so a scheme is just a sequence of weights.
struct WeightUpdate {
  const WeightRule& rule;
  double u;  // updates so far, including this one, counting every k-th step
  int64_t* count;
  double* state;
  ScalarArg<double> learning_rate;

  // log b_u, where b is the decay of k steps. expm1 keeps all digits of 1 - b when b is close to 1. During warm-up the
  // decay is lower, so a short history is forgotten faster.
  PM_HD double log_decay() const {
    double step = u * static_cast<double>(rule.every), b = rule.decay;
    if (rule.warmup == DecayWarmup::Ratio) b = std::min(b, (1 + step) / (10 + step));
    if (rule.warmup == DecayWarmup::Power) {
      b = std::min(b, 1 - std::pow(1 + step / rule.warmup_length, -rule.warmup_power));
    }
    return std::log(b) * static_cast<double>(rule.every);
  }
};

namespace schemes {

// Each row has
//   number     in saved states of the C library
//   name       value of the attribute `scheme`, also in enum Scheme of proto/optimizer.proto
//   doc        describes its weight
//   weight(s)  the weight of an update
struct Scheme {
  // The weight before the first update: the average is the parameter itself.
  static constexpr double before = 1;
};

struct Window : Scheme {
  static constexpr int number = 0;
  static constexpr const char* name = "window";
  static constexpr const char* doc =
      "1/n for the n-th update of a generation, which ends with n >= window_min and n >= min(window_max, window_rate "
      "u), and sets Roll";
  PM_HD static double weight(const WeightUpdate& s) { return 1 / static_cast<double>(++s.count[kNewer]); }
};

// Mean over all updates (Ruppert 1988; Polyak & Juditsky 1992).
struct Uniform : Scheme {
  static constexpr int number = 1;
  static constexpr const char *name = "uniform", *doc = "1/u";
  PM_HD static double weight(const WeightUpdate& s) { return 1 / s.u; }
};

// The weight of the s-th update is about proportional to s^e (Shamir & Zhang 2013).
struct Polynomial : Scheme {
  static constexpr int number = 2;
  static constexpr const char *name = "polynomial", *doc = "(e + 1)/(u + e) with the exponent e";
  PM_HD static double weight(const WeightUpdate& s) { return (s.rule.exponent + 1) / (s.u + s.rule.exponent); }
};

// The updates before s have the fraction (s/u)^(e + 1) of the total weight (Karras et al. 2024).
struct Power : Scheme {
  static constexpr int number = 3;
  static constexpr const char *name = "power", *doc = "1 - (1 - 1/u)^(e + 1) with the exponent e";
  PM_HD static double weight(const WeightUpdate& s) {
    return -std::expm1((s.rule.exponent + 1) * std::log1p(-1 / s.u));
  }
};

// Unbiased from the first update on (Kingma & Ba 2015, section 3). Without correction: 1 - b_u, after a first weight of
// 1 that discards the initial average.
struct Exponential : Scheme {
  static constexpr int number = 4;
  static constexpr const char *name = "exponential", *doc = "(1 - b)/(1 - b_1 ... b_u) with b = decay^every";
  PM_HD static double weight(const WeightUpdate& s) {
    double log = s.log_decay();
    s.state[kLogDecay] += log;
    if (s.rule.corrected) return std::expm1(log) / std::expm1(s.state[kLogDecay]);
    return s.u == 1 ? 1.0 : -std::expm1(log);
  }
};

// The first update moves the average's previous value, like all later updates.
struct Constant : Scheme {
  static constexpr int number = 5;
  static constexpr const char *name = "constant", *doc = "1 - decay^every";
  static constexpr double before = 0;
  PM_HD static double weight(const WeightUpdate& s) { return -std::expm1(s.log_decay()); }
};

// Block & Zhang 2025.
struct Falling : Scheme {
  static constexpr int number = 6;
  static constexpr const char* name = "falling";
  static constexpr const char* doc =
      "(l + r (u - 1))^-e after a first weight of 1 with the length l, rate r and power e of the warm-up";
  PM_HD static double weight(const WeightUpdate& s) {
    const WeightRule& r = s.rule;
    return s.u == 1 ? 1.0 : std::pow(r.warmup_length + r.warmup_rate * (s.u - 1), -r.warmup_power);
  }
};

// The parameters at the beginning of averaging.
struct First : Scheme {
  static constexpr int number = 7;
  static constexpr const char *name = "first", *doc = "1 once, then 0";
  PM_HD static double weight(const WeightUpdate& s) { return s.u == 1 ? 1.0 : 0.0; }
};

// Defazio et al. 2024.
struct Rate : Scheme {
  static constexpr int number = 8;
  static constexpr const char* name = "rate";
  static constexpr const char* doc = "g^2 over the sum of all g^2 with the largest LearningRate g so far";
  PM_HD static double weight(const WeightUpdate& s) {
    s.state[kRateMost] = std::max(s.state[kRateMost], s.learning_rate());
    double square = s.state[kRateMost] * s.state[kRateMost];
    s.state[kRateSum] += square;
    return s.state[kRateSum] > 0 ? square / s.state[kRateSum] : 1.0;
  }
};

template <class... S>
struct List {
  static constexpr const char* names[sizeof...(S)] = {S::name...};
  static constexpr const char* docs[sizeof...(S)] = {S::doc...};
  static constexpr int numbers[sizeof...(S)] = {S::number...};

  PM_HD static double weight(const WeightUpdate& update) {
    double weight = 0;
    (void)((update.rule.scheme == S::number && (weight = S::weight(update), true)) || ...);
    return weight;
  }
  PM_HD static double before(int scheme) {
    double weight = 0;
    (void)((scheme == S::number && (weight = S::before, true)) || ...);
    return weight;
  }
  // Throws ProgramError if no scheme has this name.
  static int number_of(const std::string& name) {
    for (size_t i = 0; i < sizeof...(S); ++i) {
      if (name == names[i]) return numbers[i];
    }
    fail<ProgramError>("unknown averaging scheme '", name, "'");
  }
};

using All = List<Window, Uniform, Polynomial, Power, Exponential, Constant, Falling, First, Rate>;

}  // namespace schemes
}  // namespace paddle_mini
