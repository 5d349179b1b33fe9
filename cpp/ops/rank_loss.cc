// rank_loss: with o = Left - Right, Out = log(1 + exp(o)) - Label o
#include "core/op_table.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// log(1 + exp(o)) = max(o, 0) + log(1 + exp(-|o|)), which does not overflow.
template <class T>
struct RankLoss {
  template <class V>
  PM_HD V operator()(V l, V a, V b) const {
    V o = a - b;
    return maximum(o, V(T(0))) + log(V(T(1)) + exp(-abs(o))) - l * o;
  }
};

template <class T>
struct RankSlope {
  T direction;
  template <class V>
  PM_HD V operator()(V l, V a, V b, V g) const {
    V one(T(1));
    return V(direction) * g * (one / (one + exp(b - a)) - l);
  }
};

template <class T>
struct RankLossKernel : Kernel {
  In<T> label, left, right;
  Out<T> out;

  explicit RankLossKernel(KernelInit& init)
      : label(init, "Label"), left(init, "Left"), right(init, "Right"), out(init, "Out") {}

  void run(KernelContext& context) override {
    map(context, out.numel(), RankLoss<T>{}, out.data(), label.data(), left.data(), right.data());
  }
};

template <class T>
struct RankLossGradKernel : Kernel {
  In<T> label, left, right, out_gradient;
  Out<T> left_gradient, right_gradient;

  explicit RankLossGradKernel(KernelInit& init)
      : label(init, "Label"), left(init, "Left"), right(init, "Right"), out_gradient(init, "Out@GRAD"),
        left_gradient(init, "Left@GRAD", optional_port), right_gradient(init, "Right@GRAD", optional_port) {}

  void run(KernelContext& context) override {
    if (left_gradient) pass(context, T(1), left_gradient.data());
    if (right_gradient) pass(context, T(-1), right_gradient.data());
  }

  void pass(KernelContext& context, T direction, T* to) {
    RankSlope<T> slope{direction};
    map(context, label.numel(), slope, to, label.data(), left.data(), right.data(), out_gradient.data());
  }
};

void require_alike(const InferContext& c) {
  require_tensors(c);
  for (const char* port : {"Left", "Right"}) {
    require_same_dtype(c, "Label", port);
    require_same_shape(c, "Label", port);
  }
}

}  // namespace

void define_rank_loss(OpTable& ops) {
  ops.add(OpSchema("rank_loss")
              .doc("Out = log(1 + exp(Left - Right)) - Label (Left - Right) for every pair: RankNet's loss (Burges et "
                   "al. 2005).")
              .input("Label", "any shape: 1 where the left one ranks higher, 0 where the right one, 0.5 for a tie")
              .input("Left", "shape of Label: scores")
              .input("Right", "shape of Label: scores")
              .output("Out", "shape of Label")
              .infer([](InferContext& c) {
                require_alike(c);
                c.set_output("Out", c.input("Label"));
              })
              .gradient("rank_loss_grad", {"Label", "Left", "Right", "Out@GRAD"}, {"Left@GRAD", "Right@GRAD"})
              .on_gpu()
              .kernels<RankLossKernel, float, double>());
  ops.add(ops.gradient_of("rank_loss")
              .doc("Left@GRAD = Out@GRAD (sigmoid(Left - Right) - Label), Right@GRAD = -Left@GRAD.")
              .kernels<RankLossGradKernel, float, double>());
}

}  // namespace paddle_mini
