// RowDecay: lazy weight decay, l1 and l2 of table rows with sparse gradients, applied when a row is read or updated.
#pragma once

#include <cmath>
#include <utility>

#include "optimizer/array.h"
#include "optimizer/loops.h"

namespace paddle_mini {

// A row without gradient would change in each update with the rate r:
//   |p| <- max(0, k |p| - r l1),  k = 1 - r (decay + l2)
// From update s to update t, with the product K of all k and T <- k T + r l1, this gives
//   |p_t| = max(0, (K_t / K_s) |p_s| - (T_t - (K_t / K_s) T_s)).
// So two numbers per row suffice for any rates: log K and T at its last update.
class RowDecay {
 public:
  RowDecay() = default;
  RowDecay(double l1, double l2_and_decay) : l1_(l1), l2_(l2_and_decay) {}

  bool works() const { return l1_ > 0 || l2_ > 0; }
  void begin(int64_t rows) {
    Array<double> log_kept(rows, log_kept_), taken(rows, taken_);  // both allocations succeed, or nothing changes
    log_kept_of_ = std::move(log_kept);
    taken_of_ = std::move(taken);
  }

  // Throws ProgramError if the rate would change the sign of a row.
  void require_rate(double rate) const {
    bool small = rate * l2_ < 1;
    require<ProgramError>(small, "the learning rate ", rate,
                          " times decay and l2_rate is not below 1: rows can't be caught up");
  }
  // The factors of one update: the fraction that remains, and the amount subtracted.
  std::pair<double, double> once(double rate) const { return {1 - rate * l2_, rate * l1_}; }
  void advance(double rate) {
    auto [kept, taken] = once(rate);
    log_kept_ += std::log1p(-rate * l2_);
    taken_ = kept * taken_ + taken;
  }

  template <class T>
  void catch_up(const Loops<T>& loops, int64_t row, int64_t width, T* p) {
    double& log_kept = log_kept_of_[row];
    double& taken = taken_of_[row];
    if (log_kept == log_kept_ && taken == taken_) return;
    double kept = std::exp(log_kept_ - log_kept);
    loops.fade(width, static_cast<T>(kept), static_cast<T>(std::max(0.0, taken_ - kept * taken)), p);
    stamp(row);
  }
  void stamp(int64_t row) { log_kept_of_[row] = log_kept_, taken_of_[row] = taken_; }

  template <class Writer>
  void write(Writer& to) const {
    to.write(log_kept_);
    to.write(taken_);
    to.write_all(log_kept_of_);
    to.write_all(taken_of_);
  }
  template <class Reader>
  void read(Reader& from) {
    log_kept_ = from.template read<double>();
    taken_ = from.template read<double>();
    from.read_all(log_kept_of_);
    from.read_all(taken_of_);
  }

 private:
  double l1_ = 0, l2_ = 0;
  double log_kept_ = 0, taken_ = 0;
  Array<double> log_kept_of_, taken_of_;  // per row
};

}  // namespace paddle_mini
