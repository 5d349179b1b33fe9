// log_loss: Loss = -(Labels log(Predicted + epsilon) + (1 - Labels) log(1 - Predicted + epsilon))
#include "ops/family/pair_loss.h"

namespace paddle_mini {
namespace {

struct LogLoss : PairLoss {
  static constexpr PairPorts ports{"Predicted", "Labels", "Loss"};
  float epsilon;

  explicit LogLoss(const KernelInit& init) : PairLoss(init), epsilon(init.attr<float>("epsilon")) {}

  template <class V>
  PM_HD V operator()(V predicted, V label) const {
    V one(1), e{number_of<V>(epsilon)};
    return -(label * log(predicted + e)) - (one - label) * log(one - predicted + e);
  }
  template <class V>
  PM_HD V operator()(V predicted, V label, V gradient) const {
    V one(1), e{number_of<V>(epsilon)};
    return gradient * ((one - label) / (one - predicted + e) - label / (predicted + e));
  }
};

}  // namespace

void define_log_loss(OpTable& ops) {
  add_pair_loss<LogLoss>(
      ops,
      pair_loss("log_loss", LogLoss::ports)
          .doc("Loss = -Labels log(Predicted + epsilon) - (1 - Labels) log(1 - Predicted + epsilon) for every "
               "element.")
          .required_attr("epsilon", AttrType::Float, "added to the logarithm's argument, so that it is not 0"),
      "Predicted@GRAD = Loss@GRAD ((1 - Labels) / (1 - Predicted + epsilon) - Labels / (Predicted + "
      "epsilon)).");
}

}  // namespace paddle_mini
