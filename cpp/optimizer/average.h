// Average: one average of the parameter, by the rules of the operators average_weight, parameter_average and
// average_rows.
#pragma once

#include <vector>

#include "math/average_weight.h"
#include "math/block_value.h"
#include "optimizer/array.h"
#include "optimizer/loops.h"
#include "optimizer/state.h"

namespace paddle_mini {

template <class T>
class Average {
 public:
  static constexpr int kMostArrays = 3;
  Average(const WeightRule& rule, int64_t size, int number);  // number: array.h, of the first of its arrays

  // Counts one update and computes its weight from its learning rate.
  void count(double rate);
  // Then adds the updated elements p from `at` on. For a parameter that is updated densely.
  void add(const Loops<T>& loops, int64_t at, int64_t n, const T* p);

  // For a table that is updated row by row, after begin_rows(): called before the rows change, with p as their values
  // since the previous change; count() is called after the change.
  void begin_rows(Array<double> stamps);  // takes memory for one stamp per row
  void reserve(size_t rows) { decays_.reserve(rows); }  // memory for the next add_rows()
  void add_rows(const LoopTables& tables, const Loops<T>& loops, const std::vector<int64_t>& rows, int64_t width,
                const T* p);

  // The average of elements `first` to `first + count`; out: where the first of them goes. ProgramError for a part of a row.
  void value(int64_t first, int64_t count, const T* p, T* out) const;

  template <class Writer>
  void write(Writer& to) const {
    to.write(int32_t{rule_.scheme});
    for (int64_t counter : counters_) to.write(counter);
    for (double number : state_) to.write(number);
    for (double sum : sums_) to.write(sum);
    to.write_all(newer_);
    to.write_all(block_);
    to.write_all(older_);
    to.write_all(stamps_);
  }
  template <class Reader>
  void read(Reader& from, bool has_blocks);  // states of version 1 have no blocks

 private:
  bool window() const { return rule_.scheme == schemes::Window::number; }
  RowClock clock() const { return RowClock(counters_, state_, window()); }
  void end_generation(int64_t at, int64_t n, const T* p);
  void write(const BlockValue<T>& value, int64_t at, int64_t n, const T* p, T* out) const;

  WeightRule rule_;
  int64_t counters_[kAverageCounters] = {};
  double state_[kAverageState] = {};
  double sums_[kAverageSums] = {};
  double weight_ = 0, before_[kAverageSums] = {};  // the weight of the current step, and the sums before it
  BlockStep<T> step_;
  int32_t roll_ = 0;
  Array<T> newer_, block_, older_;  // older_: the previous generation of a window
  Array<double> stamps_;    // one for each row; empty: the parameter is updated densely
  std::vector<double> decays_;  // scratch memory of add_rows
};

}  // namespace paddle_mini
