// l1_norm: Out = the sum of |X|
#include "core/op_table.h"
#include "math/sum_of.h"

namespace paddle_mini {
namespace {

struct Magnitude {
  template <class V>
  PM_HD V operator()(V v) const {
    return abs(v);
  }
};

template <class T>
struct SignTimes {
  T gradient;
  template <class V>
  PM_HD V operator()(V v) const {
    return sign(v) * V(gradient);
  }
};
template <class T>
struct SignTimesUniform {
  ScalarArg<T> gradient;
  PM_HD SignTimes<T> bind_scalars() const { return {gradient()}; }
};

template <class T>
struct L1NormKernel : Kernel {
  In<T> x;
  Out<T> out;

  explicit L1NormKernel(KernelInit& init) : x(init, "X"), out(init, "Out") {}
  void run(KernelContext& context) override { sum_of(context, x.numel(), Magnitude{}, x.data(), out.data()); }
};

template <class T>
struct L1NormGradKernel : Kernel {
  In<T> x, out_gradient;
  Out<T> x_gradient;

  explicit L1NormGradKernel(KernelInit& init)
      : x(init, "X"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
  void run(KernelContext& context) override {
    map(context, x.numel(), SignTimesUniform<T>{out_gradient}, x_gradient.data(), x.data());
  }
};

}  // namespace

void define_l1_norm(OpTable& ops) {
  ops.add(OpSchema("l1_norm")
              .doc("Out = the sum of the absolute values of all elements of X.")
              .input("X", "any shape")
              .output("Out", "[]")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X").dtype, Shape{});
              })
              .gradient("l1_norm_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<L1NormKernel, float, double>());
  ops.add(ops.gradient_of("l1_norm")
              .doc("X@GRAD = sign(X) Out@GRAD; 0 where X is 0.")
              .in_place("X", "X@GRAD")
              .kernels<L1NormGradKernel, float, double>());
}

}  // namespace paddle_mini
