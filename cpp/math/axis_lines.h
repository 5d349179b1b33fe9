// AxisLines: a tensor viewed as lines of elements along one of its axes.
#pragma once

#include "core/shape.h"
#include "core/target.h"

namespace paddle_mini {

// Element j of the line (o, i) is at (o * length + j) * inner + i.
struct AxisLines {
  int64_t outer = 1, length = 1, inner = 1;

  AxisLines() = default;
  AxisLines(const Shape& x, int64_t axis) {  // rank 0: a line of one element
    if (x.rank() == 0) return;
    int at = normal_axis(axis, x.rank(), "axis");
    outer = x.numel(0, at), length = x[at], inner = x.numel(at + 1, x.rank());
  }

  int64_t count() const { return outer * inner; }
  PM_HD int64_t begin_of(int64_t line) const { return line / inner * length * inner + line % inner; }
};

inline void check_axis(const Shape& x, int64_t axis) { normal_axis(axis, x.rank() ? x.rank() : 1, "axis"); }

}  // namespace paddle_mini
