// Broadcasting of elementwise operators on two tensors of different shapes.
#pragma once

#include <array>
#include <optional>
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

// The gradient of an addend: the result's gradient unchanged.
struct PassGradient {
  template <class V>
  PM_HD V operator()(V, V, V gradient) const {
    return gradient;
  }
};

// Loops over the result. Adjacent dimensions are merged if X and Y step through both alike. A step of 0 means that the
// operand is broadcast along that dimension.
class Broadcast {
 public:
  Broadcast(const Shape& x, const Shape& y, int axis);

  // out[i] = f(x[i], y[i])
  template <class T, class F>
  void map(KernelContext& context, F f, const T* x, const T* y, T* out) const;
  // The same for the elements [begin, end) of the result, on the calling thread of a CPU.
  template <class T, class F>
  void map_range(int64_t begin, int64_t end, F f, const T* x, const T* y, T* out) const;

  // Gradients of a broadcast operator: to_x[i] = the sum of f(x, y, out_gradient) over the elements of the result that
  // use x[i], and to_y likewise. If x is not broadcast, each element is computed once without a sum, and to_x may share
  // the memory of out_gradient. To is T, or float for sums of 16-bit floats.
  template <class T, class F, class To>
  void sum_to_x(KernelContext& context, F f, const T* x, const T* y, const T* gradient, To* to_x) const {
    sum_to<T, true>(context, f, x, y, gradient, to_x, x_numel_);
  }
  template <class T, class F, class To>
  void sum_to_y(KernelContext& context, F f, const T* x, const T* y, const T* gradient, To* to_y) const {
    sum_to<T, false>(context, f, x, y, gradient, to_y, y_numel_);
  }

  // How the elements of Y repeat in the result: element i uses y[i / inner % count]. None if X is broadcast too, or Y along
  // axes on both sides of one that it has.
  struct Repeats {
    int64_t inner, count;
  };
  std::optional<Repeats> repeats_of_y() const;

  bool same_shape() const { return same_shape_; }
  int64_t numel() const { return numel_; }

 private:
  struct Dim {
    int64_t size, x_step, y_step;
    std::array<int64_t, 2> steps() const { return {x_step, y_step}; }
  };
  // Elements of one row of the result: `count` from `at` on, which use X and Y from x_at and y_at on.
  struct Part {
    int64_t count, x_at, y_at, at;
  };
  // f(x, y, out_gradient) for a part, in `buffer` or where such an array is already.
  template <class C>
  struct PartGradient {
    const void* loop;
    const C* (*compute)(const void* loop, const Part& part, C* buffer);
  };

  template <class T, bool ToX, class F, class To>
  void sum_to(KernelContext& context, F f, const T* x, const T* y, const T* gradient, To* to, int64_t to_numel) const;
  // On a CPU.
  template <class F>
  void each_part(int64_t begin, int64_t end, F f) const;
  template <class T, class F, class To>
  void map_part(const Part& part, F f, const T* x, const T* y, To* out) const;
  template <class T, class F, class To>
  void map_part(const Part& part, F f, const T* x, const T* y, const T* gradient, To* to) const;
  template <class C>
  void add_parts(KernelContext& context, bool to_x, const PartGradient<C>& gradient, C* to) const;

  std::vector<Dim> outer_;  // slowest first
  Dim inner_{1, 1, 1};
  bool same_shape_ = false;
  int64_t numel_ = 0, x_numel_ = 0, y_numel_ = 0;
};

}  // namespace paddle_mini

#include PM_LAUNCHERS(broadcast)
