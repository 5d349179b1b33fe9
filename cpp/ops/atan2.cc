// atan2: Out = the angle of the point (X2, X1)
#include "core/op_table.h"
#include "core/widening.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

struct AngleOfPoint {
  template <class V>
  PM_HD V operator()(V x1, V x2) const {
    return each_lane(x1, x2, [](auto y, auto x) { return std::atan2(y, x); });
  }
};
struct SlopesOfAngle {
  template <class V>
  PM_HD std::tuple<V, V> operator()(V x1, V x2, V gradient) const {
    V scaled = gradient / (x1 * x1 + x2 * x2);
    return {scaled * x2, -scaled * x1};
  }
};

template <class T>
struct Atan2Kernel : Kernel {
  In<T> x1, x2;
  Out<T> out;

  explicit Atan2Kernel(KernelInit& init) : x1(init, "X1"), x2(init, "X2"), out(init, "Out") {}
  void run(KernelContext& context) override {
    map(context, x1.numel(), AngleOfPoint{}, out.data(), x1.data(), x2.data());
  }
};

template <class T>
struct Atan2GradKernel : Kernel {
  In<T> x1, x2, out_gradient;
  Out<T> x1_gradient, x2_gradient;
  Scratch<T> unread;  // in place of a gradient that the program does not name

  explicit Atan2GradKernel(KernelInit& init)
      : x1(init, "X1"), x2(init, "X2"), out_gradient(init, "Out@GRAD"), x1_gradient(init, "X1@GRAD", optional_port),
        x2_gradient(init, "X2@GRAD", optional_port), unread(init, x1_gradient && x2_gradient ? 0 : x1.numel()) {}

  void run(KernelContext& context) override {
    T* to_x1 = x1_gradient ? x1_gradient.data() : unread.data();
    T* to_x2 = x2_gradient ? x2_gradient.data() : unread.data();
    map(context, x1.numel(), SlopesOfAngle{}, std::tuple(to_x1, to_x2), x1.data(), x2.data(), out_gradient.data());
  }
};

void check_pair(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X1", "X2");
  require_same_shape(c, "X1", "X2");
}

}  // namespace

void define_atan2(OpTable& ops) {
  ops.add(also(
      {DType::Int32, DType::Int64},
      OpSchema("atan2")
          .doc("Out = the angle of the point (X2, X1) in radians, from -pi to pi: arctan(X1 / X2) in its quadrant. "
               "Of integers it is float64.")
          .input("X1", "any shape")
          .input("X2", "shape of X1")
          .output("Out", "shape of X1")
          .infer([](InferContext& c) {
            check_pair(c);
            DType dtype = c.input("X1").dtype;
            c.set_output("Out", is_floating(dtype) ? dtype : DType::Float64, c.shape("X1"));
          })
          .gradient("atan2_grad", {"X1", "X2", "Out@GRAD"}, {"X1@GRAD", "X2@GRAD"})
          .in_place("X1", "Out")
          .on_gpu()
          .kernels<Atan2Kernel, float, double>()));
  ops.add(ops.gradient_of("atan2")
              .doc("With R = X1^2 + X2^2: X1@GRAD = Out@GRAD X2 / R, X2@GRAD = -Out@GRAD X1 / R.")
              .infer([](InferContext& c) {
                check_pair(c);
                require_same_shape(c, "X1", "Out@GRAD");
                gradients_like_inputs(c);
              })
              .kernels<Atan2GradKernel, float, double>());
}

}  // namespace paddle_mini
