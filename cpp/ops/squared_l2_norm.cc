// squared_l2_norm: Out = the sum of the squares of X
#include "core/op_table.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

template <class T>
struct SquaredL2NormKernel : Kernel {
  In<T> x;
  Out<T> out;

  explicit SquaredL2NormKernel(KernelInit& init) : x(init, "X"), out(init, "Out") {}
  void run(Device& device) override {
    out[0] = static_cast<T>(map_sum(device, x.numel(), [](auto v) { return v * v; }, x.data()));
  }
};

template <class T>
struct SquaredL2NormGradKernel : Kernel {
  In<T> x, out_gradient;
  Out<T> x_gradient;

  explicit SquaredL2NormGradKernel(KernelInit& init)
      : x(init, "X"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
  void run(Device& device) override {
    T factor = 2 * out_gradient[0];
    map(device, x.numel(), [factor](auto v) { return v * decltype(v)(factor); }, x_gradient.data(), x.data());
  }
};

}  // namespace

void define_squared_l2_norm(OpTable& ops) {
  ops.add(OpSpec("squared_l2_norm")
              .doc("Out = the sum of the squares of all elements of X.")
              .input("X", "any shape")
              .output("Out", "[1]")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X").dtype, Shape{1});
              })
              .gradient("squared_l2_norm_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .kernels<SquaredL2NormKernel, float, double>());
  ops.add(OpSpec("squared_l2_norm_grad")
              .doc("X@GRAD = 2 X Out@GRAD.")
              .input("X", "as in squared_l2_norm")
              .input("Out@GRAD", "one element")
              .output("X@GRAD", "shape of X")
              .infer([](InferContext& c) {
                require_scalar(c, "Out@GRAD");
                require_same_dtype(c, "X", "Out@GRAD");
                gradients_like_inputs(c);
              })
              .in_place("X", "X@GRAD")
              .kernels<SquaredL2NormGradKernel, float, double>());
}

}  // namespace paddle_mini
