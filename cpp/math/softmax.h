// Softmax along one axis, and its gradient. The maximum is subtracted first, so exp never overflows.
#pragma once

#include <algorithm>

#include "core/shape.h"

namespace paddle_mini {

struct KernelContext;

class Softmax {
 public:
  Softmax(const Shape& x, int axis);  // axis in [0, rank); a tensor of rank 0 is one element

  // Elements of scratch memory that run and gradient need.
  int64_t scratch_count() const { return inner_ == 1 ? 0 : 2 * std::min(inner_, kTile); }

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

  int64_t outer_ = 1, size_ = 1, inner_ = 1;  // sizes before, along and after the axis
};

}  // namespace paddle_mini
