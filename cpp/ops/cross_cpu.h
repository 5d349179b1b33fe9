// CPU kernels of cross.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void cross_lines(KernelContext&, const AxisLines& lines, const T* x, const T* y, T* out) {
  CrossProduct<T> product{x, y, out, lines.inner};
  lines.each([&](int64_t a) { product.at(a); });
}

}  // namespace
}  // namespace paddle_mini
