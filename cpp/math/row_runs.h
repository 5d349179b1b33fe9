// Runs of rows of one tensor that are at other positions in another tensor, in the same order.
#pragma once

#include <algorithm>
#include <cstring>

#include "math/map.h"
#include "math/sequences.h"

namespace paddle_mini {

struct RowRun {
  int64_t from, to, rows;
};

using RowRuns = std::vector<RowRun>;

inline void copy_run(const Variable* from, const Variable* to, size_t bytes, const RowRun& run) {
  if (run.rows == 0 || bytes == 0) return;
  std::memcpy(row_of(to, run.to, bytes), row_of(from, run.from, bytes), static_cast<size_t>(run.rows) * bytes);
}

// Out = rows of X, for any element type.
class RowRunsKernel : public Kernel {
 public:
  RowRunsKernel(const Variable* from, const Variable* to, RowRuns runs)
      : from_(from), to_(to), runs_(std::move(runs)), bytes_(row_bytes(to)) {}
  void run(KernelContext&) override {
    for (const RowRun& one : runs_) copy_run(from_, to_, bytes_, one);
  }

 private:
  const Variable *from_, *to_;
  RowRuns runs_;
  size_t bytes_;
};

// X@GRAD: for each row of X, the sum of Out@GRAD over its copies in Out.
template <class T>
class RowRunsGradKernel : public Kernel {
 public:
  RowRunsGradKernel(const KernelInit& init, RowRuns runs)
      : out_gradient_(init, "Out@GRAD"), x_gradient_(init, "X@GRAD"), runs_(std::move(runs)),
        width_(row_numel(x_gradient_.shape())) {}
  void run(KernelContext& context) override {
    std::fill_n(x_gradient_.data(), x_gradient_.numel(), T(0));
    for (const RowRun& one : runs_) {
      T* to = x_gradient_.data() + one.from * width_;
      map(
          context, one.rows * width_, [](auto a, auto b) { return a + b; }, to, static_cast<const T*>(to),
          out_gradient_.data() + one.to * width_);
    }
  }

 private:
  In<T> out_gradient_;
  Out<T> x_gradient_;
  RowRuns runs_;
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
