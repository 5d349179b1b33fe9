// for_each_line on a CPU.
#pragma once

#include "math/cpu/axis_lines.h"

namespace paddle_mini {

template <class F>
void for_each_line(KernelContext& context, const AxisLines& lines, double cost, F f) {
  each_line(context, lines, cost, f);
}

}  // namespace paddle_mini
