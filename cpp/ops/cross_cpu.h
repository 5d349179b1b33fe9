// CPU kernels of cross.
#pragma once

#include "math/cpu/axis_lines.h"

namespace paddle_mini {
namespace {

template <class T>
void cross_lines(KernelContext& context, const AxisLines& lines, const T* x, const T* y, T* out) {
  CrossProduct<T> product{x, y, out, lines.inner};
  each_line(context, lines, bytes_cost(3 * sizeof(T)), [&](int64_t a) { product.at(a); });
}

}  // namespace
}  // namespace paddle_mini
