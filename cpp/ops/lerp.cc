// lerp: Out = X + Weight (Y - X), where all three are broadcast
#include "math/broadcast.h"
#include "math/strided_places.h"
#include "core/op_table.h"

namespace paddle_mini {
namespace {

template <class T>
struct Between {
  StridedPlaces of_x, of_y, of_weight;
  const T *x, *y, *weight;
  T* out;
  PM_HD void operator()(int64_t i) const {
    T first = x[of_x(i)];
    out[i] = first + weight[of_weight(i)] * (y[of_y(i)] - first);
  }
};

template <class T>
struct LerpKernel : Kernel {
  In<T> x, y, weight;
  Out<T> out;

  explicit LerpKernel(KernelInit& init) : x(init, "X"), y(init, "Y"), weight(init, "Weight"), out(init, "Out") {}
  void run(KernelContext& context) override {
    const Shape& to = out.shape();
    for_each_index(context, out.numel(),
                   Between<T>{broadcast_places(x.shape(), to), broadcast_places(y.shape(), to),
                              broadcast_places(weight.shape(), to), x.data(), y.data(), weight.data(), out.data()});
  }
};

// Out@GRAD times 1 - Weight or Weight, in the shape of Out.
template <class T>
struct LerpShare {
  StridedPlaces of_weight;
  bool to_y;
  const T *weight, *gradient;
  T* share;
  PM_HD void operator()(int64_t i) const {
    T w = weight[of_weight(i)];
    share[i] = gradient[i] * (to_y ? w : T(1) - w);
  }
};
struct LerpSummed {
  template <class V>
  PM_HD V operator()(V, V, V gradient) const {
    return gradient;
  }
};

template <class T>
struct LerpGradKernel : Kernel {
  In<T> weight, out_gradient;
  Out<T> x_gradient, y_gradient;
  Scratch<T> shares;

  explicit LerpGradKernel(KernelInit& init)
      : weight(init, "Weight"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port), shares(init, out_gradient.numel()) {}
  void run(KernelContext& context) override {
    if (x_gradient) sum_to(context, false, x_gradient);
    if (y_gradient) sum_to(context, true, y_gradient);
  }

  void sum_to(KernelContext& context, bool to_y, const Out<T>& to) {
    const Shape& all = out_gradient.shape();
    T* share = shares.data();
    for_each_index(context, out_gradient.numel(),
                   LerpShare<T>{broadcast_places(weight.shape(), all), to_y, weight.data(), out_gradient.data(),
                                share});
    Broadcast(all, to.shape(), -1).sum_to_y(context, LerpSummed{}, share, to.data(), share, to.data());
  }
};

Shape lerp_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  require_same_dtype(c, "X", "Weight");
  return broadcast_shape(broadcast_shape(c.shape("X"), c.shape("Y"), -1), c.shape("Weight"), -1);
}

}  // namespace

void define_lerp(OpTable& ops) {
  ops.add(OpSchema("lerp")
              .doc("Out = X + Weight (Y - X): X where Weight is 0, Y where it is 1. All three are broadcast as in "
                   "NumPy.")
              .input("X", "any shape")
              .input("Y", "a shape that can be broadcast with X")
              .input("Weight", "a shape that can be broadcast with X and Y")
              .output("Out", "the broadcast shape")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, lerp_shape(c)); })
              .gradient("lerp_grad", {"X", "Y", "Weight", "Out", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<LerpKernel, float, double>());
  ops.add(ops.gradient_of("lerp")
              .doc("X@GRAD = (1 - Weight) Out@GRAD and Y@GRAD = Weight Out@GRAD, each summed over the axes it was "
                   "broadcast along. As in PaddlePaddle, Weight gets no gradient.")
              .shape_only("X")
              .shape_only("Y")
              .shape_only("Out")
              .kernels<LerpGradKernel, float, double>());
}

}  // namespace paddle_mini
