// Softmax along one axis, and its gradient. The maximum is subtracted first, so exp never overflows.
#pragma once

#include <algorithm>

#include "math/axis_lines.h"

namespace paddle_mini {

struct KernelContext;

class Softmax {
 public:
  Softmax(const Shape& x, int axis) : lines_(x, axis) {}

  // Elements of scratch memory that run and gradient need.
  int64_t scratch_count() const { return lines_.inner == 1 ? 0 : 2 * std::min(lines_.inner, kTile); }

  // out = exp(x) / (sum of exp(x) along the axis); out may be x.
  template <class T>
  void run(KernelContext& context, const T* x, T* out, T* scratch) const;
  // x_gradient = out (gradient - sum of gradient * out along the axis); x_gradient may be gradient.
  template <class T>
  void gradient(KernelContext& context, const T* out, const T* gradient, T* x_gradient, T* scratch) const;

 private:
  static constexpr int64_t kTile = 1024;  // columns per pass if the axis is not the last

  template <class T>
  void run_columns(KernelContext& context, const T* x, T* out, T* scratch, int64_t n) const;
  template <class T>
  void gradient_columns(KernelContext& context, const T* out, const T* gradient, T* x_gradient, T* dot,
                        int64_t n) const;

  AxisLines lines_;
};

}  // namespace paddle_mini
