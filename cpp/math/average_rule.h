// WeightRule: the attributes of average_weight, for the operator and for the C library (cpp/optimizer).
#pragma once

#include <string>

#include "core/error.h"

namespace paddle_mini {

enum class DecayWarmup { None, Ratio, Power };
const char* const kDecayWarmups[] = {"none", "ratio", "power"};

struct WeightRule {
  int scheme = 0;  // row number in average_schemes.h
  DecayWarmup warmup = DecayWarmup::None;
  int64_t window_min = 1, window_max = 1, every = 1, start_step = 0;
  double window_rate = 1, decay = 0, exponent = 0, warmup_length = 1, warmup_rate = 1, warmup_power = 2.0 / 3;
  bool corrected = true;

  void require_window() const {
    require<ProgramError>(window_min <= window_max, "window_min is ", window_min, ", greater than window_max ",
                          window_max);
  }
};

// An interval; `above` and `below` exclude its ends.
struct Limits {
  double low;
  bool above = false;
  double high = 1e300;
  bool below = false;

  bool hold(double value) const {
    return (above ? value > low : value >= low) && (below ? value < high : value <= high);
  }
  std::string str() const {
    std::string lower = text(above ? "above " : "at least ", low);
    return high >= 1e300 ? lower : text(lower, " and ", below ? "below " : "at most ", high);
  }
};

// An attribute. Its default is that of WeightRule, and it is a field of AveragingConfig (proto/optimizer.proto).
template <class T>
struct RuleAttr {
  const char* name;
  T WeightRule::* value;
  Limits limits;
  const char* doc;
};

inline const RuleAttr<double> kRuleNumbers[] = {
    {"window_rate",
     &WeightRule::window_rate,
     {0, true},
     "size of a generation as a fraction of all updates; for scheme window"},
    {"decay",
     &WeightRule::decay,
     {0, false, 1, true},
     "decay rate of the average in one step; for schemes exponential and constant"},
    {"exponent", &WeightRule::exponent, {0}, "e of schemes polynomial and power"},
    {"warmup_length", &WeightRule::warmup_length, {0, true}, "length of warmup power and of scheme falling, in steps"},
    {"warmup_rate", &WeightRule::warmup_rate, {0}, "rate of scheme falling"},
    {"warmup_power", &WeightRule::warmup_power, {0, false, 1}, "power of warmup power and of scheme falling"},
};
inline const RuleAttr<int64_t> kRuleCounts[] = {
    {"window_min", &WeightRule::window_min, {1}, "minimum number of updates of a generation"},
    {"window_max", &WeightRule::window_max, {1}, "maximum number of updates of a generation that has window_min"},
    {"every", &WeightRule::every, {1}, "the number of steps from one update to the next"},
    {"start_step", &WeightRule::start_step, {0}, "the number of first steps that are not averaged"},
};

}  // namespace paddle_mini
