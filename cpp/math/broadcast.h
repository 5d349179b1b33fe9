// Broadcasting of elementwise operators on two tensors of different shapes.
#pragma once

#include <vector>

#include "core/infer.h"
#include "math/map.h"

namespace paddle_mini {

// The shape of the result. Y's dimensions are aligned with those of X from `axis` on (-1: the last dimensions are
// aligned). Dimensions of 1 are broadcast, as in NumPy. Unknown dimensions stay -1.
Shape broadcast_shape(const Shape& x, const Shape& y, int axis);

// Checks an operator with inputs X, Y and attribute `axis` (same dtype; Out has the broadcast shape), and its gradient
// with inputs X, Y, Out@GRAD.
void infer_broadcast(InferContext& c);

// Loops over the result. Adjacent dimensions are merged if X and Y step through both alike. A step of 0 means that the
// operand is broadcast along that dimension.
class Broadcast {
 public:
  Broadcast(const Shape& x, const Shape& y, int axis);

  // out[i] = f(x[i], y[i])
  template <class T, class F>
  void map(KernelContext& context, F f, const T* x, const T* y, T* out) const;

  // Gradients of a broadcast operator: to_x[i] = the sum of f(x, y, out_gradient) over the elements of the result that
  // use x[i], and to_y likewise. If x is not broadcast, each element is computed once without a sum, and to_x may share
  // the memory of out_gradient.
  template <class T, class F>
  void sum_to_x(KernelContext& context, F f, const T* x, const T* y, const T* gradient, T* to_x) const {
    sum_to<T, true>(context, f, x, y, gradient, to_x, x_numel_);
  }
  template <class T, class F>
  void sum_to_y(KernelContext& context, F f, const T* x, const T* y, const T* gradient, T* to_y) const {
    sum_to<T, false>(context, f, x, y, gradient, to_y, y_numel_);
  }

  bool same_shape() const { return same_shape_; }
  int64_t numel() const { return numel_; }

 private:
  struct Dim {
    int64_t size, x_step, y_step;
  };

  // Calls f(position in x, in y, in the result) for each run of elements with constant steps.
  template <class F>
  void each_row(F f) const {
    int64_t rows = inner_.size ? numel_ / inner_.size : 0;
    int64_t index[Shape::kMaxRank] = {};
    int64_t x = 0, y = 0;
    for (int64_t row = 0; row < rows; ++row) {
      f(x, y, row * inner_.size);
      for (int d = static_cast<int>(outer_.size()) - 1; d >= 0; --d) {
        x += outer_[d].x_step;
        y += outer_[d].y_step;
        if (++index[d] < outer_[d].size) break;
        x -= outer_[d].x_step * outer_[d].size;
        y -= outer_[d].y_step * outer_[d].size;
        index[d] = 0;
      }
    }
  }

  template <class T, bool ToX, class F>
  void sum_to(KernelContext& context, F f, const T* x, const T* y, const T* gradient, T* to, int64_t to_numel) const;
  template <class T, class F>
  void map_row(KernelContext& context, F f, const T* x, const T* y, T* out) const;
  template <class T, class F, class... Inputs>
  void add_row(KernelContext& context, bool add, T* target, F f, const Inputs*... in) const;
  template <class T, class F>
  T sum_row(KernelContext& context, F f, const T* a, const T* g) const;

  std::vector<Dim> outer_;  // slowest first
  Dim inner_{1, 1, 1};
  bool same_shape_ = false;
  int64_t numel_ = 0, x_numel_ = 0, y_numel_ = 0;
};

}  // namespace paddle_mini

#include PM_LAUNCHERS(broadcast)
