// Evaluates a block average (average_blocks.h) of a whole parameter, or of a row that was not updated for some steps.
#pragma once

#include "math/average_blocks.h"
#include "math/average_state.h"

namespace paddle_mini {

PM_HD inline double share_of_previous(const int64_t* counters) {
  double newer = static_cast<double>(counters[kNewer]), older = static_cast<double>(counters[kOlder]);
  return older > 0 ? older / (newer + older) : 0;
}

// For elements with the same stamp. Computes in float64: first the missing updates, then the mean of both generations.
template <class T>
struct BlockValue {
  BlockMean<T> mean;
  bool none;              // whether no update has happened yet
  double share;           // weight of the previous generation
  double decay = 1, decay_of_previous = 1;
  bool rolled = false;

  PM_HD BlockValue(const int64_t* counters, const double* sums, bool window)
      : mean(sums), none(counters[kUpdates] == 0), share(window ? share_of_previous(counters) : 0) {}
  // For a row, whose average and block are a sum of two numbers.
  PM_HD BlockValue(const int64_t* counters, const RowClock& clock, double stamp, bool window)
      : mean(0, 1), none(counters[kUpdates] == 0), share(window ? share_of_previous(counters) : 0),
        decay(clock.decay(stamp)), rolled(window && clock.rolled(stamp)) {
    if (rolled) decay_of_previous = clock.decay_of_previous(stamp);
  }

  PM_HD T operator()(T param, T average, T block, T previous) const {
    if (none) return param;
    double p = static_cast<double>(param), now = mean(average, block), older = static_cast<double>(previous);
    if (p - p == 0) {
      if (rolled) older = p + decay_of_previous * (now - p);
      if (decay != 1) now = p + decay * (now - p);
    }
    return static_cast<T>(share == 1 ? older : now + share * (older - now));
  }
};

}  // namespace paddle_mini
