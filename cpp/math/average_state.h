// State of the averaging operators between steps: the progress of an average, and how outdated each of its rows is.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/op_table.h"
#include "math/scalar_arg.h"

namespace paddle_mini {

// Counters, int64: updates so far; members of this generation and of the previous one; steps; steps skipped because a
// parameter was not finite.
enum AverageCounter { kUpdates = 0, kNewer, kOlder, kSteps, kSkipped, kAverageCounters };

// State, float64.
//   kLogKept    the sum of log(1 - w) over all weights w: between updates s and t an average keeps the fraction
//               exp(log_t - log_s) of itself. A weight of 1 keeps nothing and counts as kForget.
//   kSquares    the sum of squares of the members' weights; its inverse is the effective number of members
//   kAge        the weighted mean age of the members, in steps; kOlderAge is that of the previous generation
//   kLogDecay   the sum of log(decay) over all updates, for the bias correction
//   kRateMost, kRateSum   the largest learning rate, and the sum of squared rates
enum AverageState { kLogKept = 0, kSquares, kAge, kOlderAge, kLogDecay, kRateMost, kRateSum, kAverageState };
constexpr double kForget = -1000;  // its exp is 0

inline void require_vector(InferContext& c, const char* port, DType dtype, int64_t size) {
  const VarInfo& info = c.input(port);
  require<ShapeError>(info.dtype == dtype, port, " is ", name_of(info.dtype), ", it must be ", name_of(dtype));
  bool fits = shapes_agree(info.shape, Shape{size});
  require<ShapeError>(fits, port, " has shape ", info.shape.str(), ", it must be [", size, "]");
}

// Ring contains k > 0 variables like Param, stacked along a new first axis.
inline void require_ring(InferContext& c) {
  require_same_dtype(c, "Param", "Ring");
  Shape ring = c.shape("Ring"), param = c.shape("Param");
  bool fits = ring.rank() == param.rank() + 1 && ring[0] != 0;
  for (int i = 0; fits && i < param.rank(); ++i) fits = ring[i + 1] == param[i] || ring[i + 1] < 0 || param[i] < 0;
  require<ShapeError>(fits, "Ring has shape ", ring.str(), ", Param ", param.str());
}

// Lazy averaging of rows. A parameter that was constant from update s (its stamp) to update t has the average
//   a_t = p + k (a_s - p),  k = (1 - w_{s+1}) ... (1 - w_t),
// so a row without gradients need not be averaged until it is read or changed. The stamp of a row is kLogKept at s. In
// a window, where all members have equal weights and each generation starts empty, the stamp is the update number s.
// The average of a row that is not finite does not change.
class RowClock {
 public:
  PM_HD RowClock(const int64_t* counters, const double* state, bool window)
      : counters_(counters), now_(window ? static_cast<double>(counters[kUpdates]) : state[kLogKept]), window_(window) {
  }

  PM_HD double now() const { return now_; }

  // The fraction of itself that the average keeps. In a window this is for the newer generation, and
  // decay_of_previous() for the older one.
  PM_HD double decay(double stamp) const {
    if (!window_) return stamp == now_ ? 1.0 : std::exp(now_ - stamp);
    return part(stamp, now_ - static_cast<double>(counters_[kNewer]), static_cast<double>(counters_[kNewer]));
  }
  // Whether the generation that was the newer one at the stamp has become the previous one.
  PM_HD bool rolled(double stamp) const {
    double begin = now_ - static_cast<double>(counters_[kNewer]);
    return stamp < begin;
  }
  PM_HD double decay_of_previous(double stamp) const {
    double older = static_cast<double>(counters_[kOlder]);
    return part(stamp, now_ - static_cast<double>(counters_[kNewer]) - older, older);
  }

 private:
  // For an average over `count` members since `begin`: the fraction of members that already existed at the stamp.
  PM_HD static double part(double stamp, double begin, double count) {
    return stamp <= begin || count == 0 ? 0.0 : (stamp - begin) / count;
  }

  const int64_t* counters_;
  double now_;
  bool window_;
};

}  // namespace paddle_mini
