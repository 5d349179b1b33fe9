// Runs of rows of one tensor that are at other positions in another tensor, in the same order.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/kept_array.h"
#include "math/copy.h"
#include "math/cpu/each_item.h"
#include "math/sequences.h"

namespace paddle_mini {

struct RowRun {
  int64_t from, to, rows;
};

using RowRuns = KeptArray<RowRun>;

inline void copy_run(const Variable* from, const Variable* to, size_t bytes, const RowRun& run) {
  if (run.rows == 0 || bytes == 0) return;
  std::memcpy(row_of(to, run.to, bytes), row_of(from, run.from, bytes), static_cast<size_t>(run.rows) * bytes);
}

inline double mean_rows(const RowRuns& runs) {
  double rows = 0;
  for (const RowRun& one : runs) rows += static_cast<double>(one.rows);
  return runs.empty() ? 0 : rows / static_cast<double>(runs.size());
}

// Out = rows of X, for any element type. No two runs have the same rows of Out.
class RowRunsKernel : public Kernel {
 public:
  RowRunsKernel(const Variable* from, const Variable* to, RowRuns runs)
      : from_(from), to_(to), runs_(std::move(runs)), bytes_(row_bytes(to)) {}
  void run(KernelContext& context) override {
    each_item(context,
              {static_cast<int64_t>(runs_.size()), bytes_cost(2 * mean_rows(runs_) * static_cast<double>(bytes_))},
              [&](int64_t i) { copy_run(from_, to_, bytes_, runs_[static_cast<size_t>(i)]); });
  }

 private:
  const Variable *from_, *to_;
  RowRuns runs_;
  size_t bytes_;
};

// X@GRAD: for each row of X, the sum of Out@GRAD over its copies in Out. Runs of the same rows of X are adjacent, and
// others have other rows.
template <class T>
class RowRunsGradKernel : public Kernel {
 public:
  RowRunsGradKernel(const KernelInit& init, RowRuns runs)
      : out_gradient_(init, "Out@GRAD"), x_gradient_(init, "X@GRAD"), runs_(std::move(runs)),
        width_(row_numel(x_gradient_.shape())) {
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (i == 0 || runs_[i].from != runs_[i - 1].from) groups_.push_back(i);
    }
  }
  void run(KernelContext& context) override {
    fill_n(context, x_gradient_.data(), x_gradient_.numel(), T(0));
    const auto groups = static_cast<int64_t>(groups_.size());
    const double runs_of_group = static_cast<double>(runs_.size()) / std::max(1.0, static_cast<double>(groups));
    const double elements = runs_of_group * mean_rows(runs_) * static_cast<double>(width_);
    each_long_item(context, {groups, bytes_cost(3.0 * sizeof(T)) * elements}, [&](int64_t group) {
      size_t first = groups_[static_cast<size_t>(group)];
      for (size_t i = first; i < runs_.size() && runs_[i].from == runs_[first].from; ++i) add(context, runs_[i]);
    });
  }

 private:
  void add(KernelContext& context, const RowRun& one) const {
    T* to = x_gradient_.data() + one.from * width_;
    map(
        context, one.rows * width_, [](auto a, auto b) { return a + b; }, to, static_cast<const T*>(to),
        out_gradient_.data() + one.to * width_);
  }

  In<T> out_gradient_;
  Out<T> x_gradient_;
  RowRuns runs_;
  KeptArray<size_t> groups_;  // the first run of each group of runs of the same rows of X
  int64_t width_;
};

// Repeats sequence i of X as often as sequence i of the reference has elements. Without offsets each row of X is a
// sequence.
inline RowRuns repeated(const Offsets* x, const Offsets& reference) {
  RowRuns runs;
  int64_t to = 0;
  for (size_t i = 0; i + 1 < reference.size(); ++i) {
    int64_t from = x ? (*x)[i] : static_cast<int64_t>(i), rows = x ? (*x)[i + 1] - from : 1;
    for (int64_t times = reference[i + 1] - reference[i]; times > 0 && rows > 0; --times, to += rows) {
      runs.push_back({from, to, rows});
    }
  }
  return runs;
}

}  // namespace paddle_mini
