// kldiv_loss: Loss = Target (log Target - X), where X is the logarithm of a probability
#include "core/op_table.h"
#include "math/map.h"
#include "math/scalar_arg.h"

namespace paddle_mini {
namespace {

// The factor of the sum or of each element.
template <class T>
T factor_of(const std::string& reduction, const Shape& x) {
  if (reduction == "mean") return T(1) / static_cast<T>(x.numel());
  if (reduction == "batchmean") return T(1) / static_cast<T>(x[0]);
  return T(1);
}

struct Divergence {
  template <class V>
  PM_HD V operator()(V x, V target) const {
    return select(target > V(0), target * (log(target) - x), V(0));
  }
};

struct DivergenceSlope {
  template <class V>
  PM_HD V operator()(V t, V g) const {
    return select(t > V(0), -(t * g), V(0));
  }
};
template <class T>
struct DivergenceSlopeOfOne {
  T gradient;
  template <class V>
  PM_HD V operator()(V t) const {
    return DivergenceSlope{}(t, V(gradient));
  }
};
template <class T>
struct DivergenceSlopeOfSum {
  ScalarArg<T> gradient;
  T factor;
  PM_HD DivergenceSlopeOfOne<T> bind_scalars() const { return {gradient() * factor}; }
};

template <class T>
struct KldivLossKernel : Kernel {
  In<T> x, target;
  Out<T> loss;
  bool each;
  T factor;

  explicit KldivLossKernel(KernelInit& init)
      : x(init, "X"), target(init, "Target"), loss(init, "Loss"), each(init.attr<std::string>("reduction") == "none"),
        factor(factor_of<T>(init.attr<std::string>("reduction"), x.shape())) {}

  void run(KernelContext& context) override {
    if (each) map(context, x.numel(), Divergence{}, loss.data(), x.data(), target.data());
    else sum(context);
  }

  void sum(KernelContext& context);
};

template <class T>
struct KldivLossGradKernel : Kernel {
  In<T> target, loss_gradient;
  Out<T> x_gradient;
  bool each;
  T factor;

  explicit KldivLossGradKernel(KernelInit& init)
      : target(init, "Target"), loss_gradient(init, "Loss@GRAD"), x_gradient(init, "X@GRAD"),
        each(init.attr<std::string>("reduction") == "none"),
        factor(factor_of<T>(init.attr<std::string>("reduction"), target.shape())) {}

  void run(KernelContext& context) override {
    int64_t n = target.numel();
    if (n == 0) return;
    if (each) {
      map(context, n, DivergenceSlope{}, x_gradient.data(), target.data(), loss_gradient.data());
    } else {
      map(context, n, DivergenceSlopeOfSum<T>{loss_gradient, factor}, x_gradient.data(), target.data());
    }
  }
};

Shape kldiv_loss_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Target");
  const Shape& x = c.shape("X");
  require<ShapeError>(shapes_agree(x, c.shape("Target")), "X has shape ", x.str(), ", Target has ",
                      c.shape("Target").str());
  const std::string& reduction = c.attr<std::string>("reduction");
  require<ShapeError>(reduction != "batchmean" || x.rank() > 0, "X has no dimensions, so it has no mean over a batch");
  return reduction == "none" ? x : Shape{};
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(kldiv_loss)

namespace paddle_mini {

void define_kldiv_loss(OpTable& ops) {
  ops.add(
      OpSchema("kldiv_loss")
          .doc("Loss = Target (log Target - X) where Target is above 0, else 0: the Kullback-Leibler divergence of "
               "probabilities exp(X) from Target, reduced according to `reduction`.")
          .input("X", "any shape: logarithms of probabilities")
          .input("Target", "shape of X: probabilities")
          .output("Loss", "[]; shape of X without reduction")
          .attr("reduction", "mean",
                "none: a loss for each element; sum; mean: sum / number of elements; batchmean: sum / first dimension",
                one_of({"none", "sum", "mean", "batchmean"}))
          .infer([](InferContext& c) { c.set_output("Loss", c.input("X").dtype, kldiv_loss_shape(c)); })
          .gradient("kldiv_loss_grad", {"X", "Target", "Loss@GRAD"}, {"X@GRAD"})
          .on_gpu()
          .kernels<KldivLossKernel, float, double>());
  ops.add(ops.gradient_of("kldiv_loss")
              .doc("X@GRAD = -Target Loss@GRAD where Target is above 0, else 0, divided like the loss.")
              .input("X", "as in kldiv_loss; its values are not read")
              .kernels<KldivLossGradKernel, float, double>());
}

}  // namespace paddle_mini
