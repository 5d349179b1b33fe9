// Average: one average of the parameter, kept by the rules of the operators average_weight, parameter_average and
// average_rows.
#pragma once

#include <vector>

#include "math/average_weight.h"
#include "optimizer/array.h"
#include "optimizer/loops.h"
#include "optimizer/state.h"

namespace paddle_mini {

template <class T>
class Average {
 public:
  Average(const WeightRule& rule, int64_t size, int number);  // of its first array, the next one being its second's

  // One update: its weight, from the learning rate it had.
  void count(double rate);
  // Then, for the elements from `at` on of a parameter that changes as a whole: p, up to date.
  void add(const Loops<T>& loops, int64_t at, int64_t n, const T* p);

  // Of a table that changes row by row, after begin_rows(): before rows change, p being what they were since they did
  // last; count() is called after they have.
  void begin_rows(Array<double> stamps);  // memory for one of each row
  void reserve(size_t rows) { kept_.reserve(rows); }  // that add_rows() is called for next
  void add_rows(const LoopTables& tables, const Loops<T>& loops, const std::vector<int64_t>& rows, int64_t width,
                const T* p);

  void value(const Loops<T>& loops, int64_t size, const T* p, T* out) const;

  template <class Writer>
  void write(Writer& to) const {
    to.write(static_cast<int32_t>(rule_.scheme));
    for (int64_t counter : counters_) to.write(counter);
    for (double number : state_) to.write(number);
    to.write_all(newer_);
    to.write_all(older_);
    to.write_all(stamps_);
  }
  void read(StateReader& from);

 private:
  bool window() const { return rule_.scheme == WeightScheme::Window; }
  RowClock clock() const { return RowClock(counters_, state_, window()); }
  T share_of_older() const;
  void value_of_rows(const Loops<T>& loops, const T* p, T* out) const;

  WeightRule rule_;
  int64_t counters_[kAverageCounters] = {};
  double state_[kAverageState] = {};
  double weight_ = 0;
  int32_t roll_ = 0;
  Array<T> newer_, older_;  // the second of a window
  Array<double> stamps_;    // of rows; empty: the parameter changes as a whole
  std::vector<double> kept_;  // of add_rows
};

}  // namespace paddle_mini
