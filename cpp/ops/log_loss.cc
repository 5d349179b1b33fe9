// log_loss: Loss = -(Labels log(Predicted + epsilon) + (1 - Labels) log(1 - Predicted + epsilon))
#include "ops/family/pair_loss.h"

namespace paddle_mini {
namespace {

constexpr PairPorts kLogLossPorts{"Predicted", "Labels", "Loss"};

struct WithEpsilon : PairLoss {
  static constexpr PairPorts ports = kLogLossPorts;
  float epsilon;

  explicit WithEpsilon(const KernelInit& init) : PairLoss(init), epsilon(init.attr<float>("epsilon")) {}
};

struct LogLoss : WithEpsilon {
  using WithEpsilon::WithEpsilon;

  template <class V>
  PM_HD V operator()(V predicted, V label) const {
    V one(1), e{number_of<V>(epsilon)};
    return -(label * log(predicted + e)) - (one - label) * log(one - predicted + e);
  }
};

struct LogLossGrad : WithEpsilon {
  using WithEpsilon::WithEpsilon;

  template <class V>
  PM_HD V operator()(V predicted, V label, V gradient) const {
    V one(1), e{number_of<V>(epsilon)};
    return gradient * ((one - label) / (one - predicted + e) - label / (predicted + e));
  }
};

}  // namespace

void define_log_loss(OpTable& ops) {
  ops.add(pair_loss("log_loss", kLogLossPorts)
              .doc("Loss = -Labels log(Predicted + epsilon) - (1 - Labels) log(1 - Predicted + epsilon) for every "
                   "element.")
              .required_attr("epsilon", AttrType::Float, "added to the logarithm's argument, so that it is not 0")
              .kernels<PairLossKernel<LogLoss>::For, float, double>());
  ops.add(pair_loss_gradient(ops, "log_loss", kLogLossPorts)
              .doc("Predicted@GRAD = Loss@GRAD ((1 - Labels) / (1 - Predicted + epsilon) - Labels / (Predicted + "
                   "epsilon)).")
              .kernels<PairLossGradKernel<LogLossGrad>::For, float, double>());
}

}  // namespace paddle_mini
