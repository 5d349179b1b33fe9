// for_each_line on a GPU: a thread for each line.
#pragma once

#include "math/axis_lines.h"
#include "math/gpu/for_each_index.h"

namespace paddle_mini {

namespace for_each_line_gpu {
template <class F>
struct Line {
  AxisLines lines;
  F f;
  PM_DEVICE void operator()(int64_t line) const { f(lines.begin_of(line)); }
};
}  // namespace for_each_line_gpu

template <class F>
void for_each_line(KernelContext& context, const AxisLines& lines, double, F f) {
  for_each_index(context, lines.count(), for_each_line_gpu::Line<F>{lines, f});
}

}  // namespace paddle_mini
