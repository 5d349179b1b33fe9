// for_each_line: calls f(offset of the first element) for every line of a tensor, in any order; the elements of a line are
// lines.inner apart. cost: of one element, in nanoseconds on a CPU.
//   template <class F> void for_each_line(KernelContext& context, const AxisLines& lines, double cost, F f);
#pragma once

#include "core/kernel.h"
#include "math/axis_lines.h"

#include PM_LAUNCHERS(for_each_line)
