// dist: Out = the p-norm of X - Y, with NumPy's broadcasting
#include "math/axis_index_map.h"
#include "math/broadcast.h"
#include "math/p_norm.h"

namespace paddle_mini {
namespace {

constexpr float kEpsilon = 1e-12f;

struct Difference {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return x - y;
  }
};
// Gradient functions whose third argument is the slope itself instead of Out@GRAD.
struct SlopeOfX {
  template <class V>
  PM_HD V operator()(V, V, V slope) const {
    return slope;
  }
};
struct SlopeOfY {
  template <class V>
  PM_HD V operator()(V, V, V slope) const {
    return -slope;
  }
};

template <class T>
struct DistKernel : Kernel {
  In<T> x, y;
  Out<T> out;
  Broadcast broadcast;
  PNorm norm;
  Scratch<T> differences;

  explicit DistKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), broadcast(x.shape(), y.shape(), -1),
        norm(init.attr<float>("p"), kEpsilon), differences(init, broadcast.numel()) {}

  void run(KernelContext& context) override;
};

template <class T>
struct DistGradKernel : Kernel {
  In<T> x, y, out, out_gradient;
  Out<T> x_gradient, y_gradient;
  Broadcast broadcast;
  PNorm norm;
  Scratch<T> slopes;

  explicit DistGradKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), out_gradient(init, "Out@GRAD"),
        x_gradient(init, "X@GRAD", optional_port), y_gradient(init, "Y@GRAD", optional_port),
        broadcast(x.shape(), y.shape(), -1), norm(init.attr<float>("p"), kEpsilon), slopes(init, broadcast.numel()) {}

  void run(KernelContext& context) override;
};

void check_dist(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  broadcast_shape(c.shape("X"), c.shape("Y"), -1);
  require<ProgramError>(!std::isnan(c.attr<float>("p")), "attribute 'p' is NaN");
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(dist)

namespace paddle_mini {

void define_dist(OpTable& ops) {
  ops.add(OpSchema("dist")
              .doc("Out = (sum of |X - Y|^p)^(1/p) over all elements.")
              .attr("p", 2.0f,
                    "the order; inf, -inf: the largest, the smallest difference; 0: the number of nonzero differences")
              .input("X", "any shape")
              .input("Y", "a shape that can be broadcast with X's")
              .output("Out", "one number, []")
              .infer([](InferContext& c) {
                check_dist(c);
                c.set_output("Out", c.input("X").dtype, Shape{});
              })
              .gradient("dist_grad", {"X", "Y", "Out", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<DistKernel, float, double>());
  ops.add(ops.gradient_of("dist")
              .doc("With D = X - Y and G = Out@GRAD sign(D) |D|^(p-1) / (Out^(p-1) + 1e-12), or 0 where D is 0: X@GRAD "
                   "= G, Y@GRAD = -G, each summed over the axes along which it was broadcast.")
              .kernels<DistGradKernel, float, double>());
}

}  // namespace paddle_mini
