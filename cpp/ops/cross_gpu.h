// GPU kernels of cross.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void cross_lines(KernelContext& context, const AxisLines& lines, const T* x, const T* y, T* out) {
  CrossProduct<T> product{x, y, out, lines.inner};
  for_each_index(context, lines.outer * lines.inner, product);
}

}  // namespace
}  // namespace paddle_mini
