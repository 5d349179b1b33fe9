// Loops over the lines of a tensor on a CPU.
#pragma once

#include "math/axis_lines.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {

// Calls f(offset of the line's first element) for each line; the elements of a line are lines.inner apart. cost: of one
// element.
template <class F>
void each_line(KernelContext& context, const AxisLines& lines, double cost, F f) {
  each_item(context, {lines.count(), cost * static_cast<double>(lines.length)},
            [&](int64_t line) { f(lines.begin_of(line)); });
}

}  // namespace paddle_mini
