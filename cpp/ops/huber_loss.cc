// huber_loss: with r = Y - X, Out = r^2 / 2 where |r| <= delta, else delta (|r| - delta / 2)
#include "core/op_table.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

template <class T>
struct Huber {
  T delta;
  template <class V>
  PM_HD std::tuple<V, V> operator()(V x, V y) const {
    V r = y - x, half(T(0.5)), limit{delta}, size = abs(r);
    return {select(size <= limit, half * r * r, limit * (size - half * limit)), r};
  }
};

template <class T>
struct HuberSlope {
  T delta, direction;
  template <class V>
  PM_HD V operator()(V r, V g) const {
    V limit{delta};
    return g * V(direction) * select(abs(r) <= limit, r, limit * sign(r));
  }
};

template <class T>
struct HuberLossKernel : Kernel {
  In<T> x, y;
  Out<T> out, residual;
  T delta;

  explicit HuberLossKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out(init, "Out"), residual(init, "Residual"),
        delta(static_cast<T>(init.attr<float>("delta"))) {}

  void run(KernelContext& context) override {
    map(context, out.numel(), Huber<T>{delta}, std::make_tuple(out.data(), residual.data()), x.data(), y.data());
  }
};

template <class T>
struct HuberLossGradKernel : Kernel {
  In<T> residual, out_gradient;
  Out<T> x_gradient, y_gradient;
  T delta;

  explicit HuberLossGradKernel(KernelInit& init)
      : residual(init, "Residual"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port), delta(static_cast<T>(init.attr<float>("delta"))) {}

  void run(KernelContext& context) override {
    if (x_gradient) pass(context, T(-1), x_gradient.data());
    if (y_gradient) pass(context, T(1), y_gradient.data());
  }

  void pass(KernelContext& context, T direction, T* to) {
    HuberSlope<T> slope{delta, direction};
    map(context, residual.numel(), slope, to, residual.data(), out_gradient.data());
  }
};

void infer_huber_loss_gradient(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "Residual", "Out@GRAD");
  require_same_shape(c, "Residual", "Out@GRAD");
  c.set_output("X@GRAD", c.input("Residual"));
  c.set_output("Y@GRAD", c.input("Residual"));
}

}  // namespace

void define_huber_loss(OpTable& ops) {
  ops.add(OpSchema("huber_loss")
              .doc("With Residual r = Y - X: Out = r^2 / 2 where |r| <= delta, else delta (|r| - delta / 2).")
              .input("X", "any shape: predictions")
              .input("Y", "shape of X: targets")
              .output("Out", "shape of X")
              .output("Residual", "shape of X: Y - X")
              .required_attr("delta", AttrType::Float, "the |r| at which the parabola becomes a line")
              .infer([](InferContext& c) {
                require_same_dtype(c, "X", "Y");
                require<ShapeError>(shapes_agree(c.shape("X"), c.shape("Y")), "X has shape ", c.shape("X").str(),
                                    ", Y has ", c.shape("Y").str());
                same_as("X")(c);
              })
              .gradient("huber_loss_grad", {"Residual", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .on_gpu()
              .kernels<HuberLossKernel, float, double>());
  ops.add(ops.gradient_of("huber_loss")
              .doc("Y@GRAD = Out@GRAD r where |r| <= delta, else Out@GRAD delta sign(r); X@GRAD = -Y@GRAD.")
              .infer(infer_huber_loss_gradient)
              .kernels<HuberLossGradKernel, float, double>());
}

}  // namespace paddle_mini
