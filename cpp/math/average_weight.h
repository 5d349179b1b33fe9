// Computes the weight of the newest parameters in their average, for average_weight and for the C library
// (cpp/optimizer).
#pragma once

#include "math/average_schemes.h"

namespace paddle_mini {

// One step. A single thread runs it on the device that holds counters and state, so it needs no synchronization.
struct WeightStep {
  WeightRule rule;
  const int64_t* counters;
  const double* state;
  ScalarArg<bool> updated, finite;
  ScalarArg<double> learning_rate;
  int64_t* count;
  double *next_state, *weight;
  int32_t* roll;

  PM_HD void operator()(int64_t) const {
    for (int i = 0; i < kAverageCounters; ++i) count[i] = counters[i];
    for (int i = 0; i < kAverageState; ++i) next_state[i] = state[i];
    *weight = 0;
    *roll = 0;
    if (!updated()) return;
    ++count[kSteps];
    next_state[kAge] += 1;
    next_state[kOlderAge] += 1;
    if (!finite()) {
      ++count[kSkipped];
      return;
    }
    int64_t step = count[kSteps] - rule.start_step;
    bool counts = step > 0 && step % rule.every == 0;
    if (counts) ++count[kUpdates];
    double w = 0;
    double u = static_cast<double>(count[kUpdates]);
    if (counts) w = schemes::All::weight({rule, u, count, next_state, learning_rate});
    else if (count[kUpdates] == 0) w = schemes::All::before(rule.scheme);
    *weight = w;
    if (count[kUpdates] > 0) next_state[kLogKept] += w == 1 ? kForget : std::log1p(-w);
    note_members(w);
    if (counts && rule.scheme == schemes::Window::number) end_generation();
  }

  PM_HD void note_members(double w) const {
    next_state[kSquares] = (1 - w) * (1 - w) * next_state[kSquares] + w * w;
    next_state[kAge] *= 1 - w;
  }

  PM_HD void end_generation() const {
    double wanted =
        std::min(static_cast<double>(rule.window_max), static_cast<double>(count[kUpdates]) * rule.window_rate);
    if (count[kNewer] < rule.window_min || static_cast<double>(count[kNewer]) < wanted) return;
    *roll = 1;
    count[kOlder] = count[kNewer];
    count[kNewer] = 0;
    next_state[kOlderAge] = next_state[kAge];
  }
};

}  // namespace paddle_mini
