// hinge_loss: Loss = max(0, 1 - Logits (2 Labels - 1))
#include "ops/family/pair_loss.h"

namespace paddle_mini {
namespace {

constexpr PairPorts kHingeLossPorts{"Logits", "Labels", "Loss"};

// Maps labels 0 and 1 to the signs -1 and 1.
struct Hinge : PairLoss {
  static constexpr PairPorts ports = kHingeLossPorts;
  using PairLoss::PairLoss;

  template <class V>
  PM_HD V operator()(V logit, V label) const {
    return maximum(V(1) - logit * (label + label - V(1)), V(0));
  }
};

struct HingeGrad : PairLoss {
  static constexpr PairPorts ports = kHingeLossPorts;
  using PairLoss::PairLoss;

  template <class V>
  PM_HD V operator()(V logit, V label, V gradient) const {
    V sign = label + label - V(1);
    return select(V(1) - logit * sign > V(0), -(gradient * sign), V(0));
  }
};

}  // namespace

void define_hinge_loss(OpTable& ops) {
  ops.add(pair_loss("hinge_loss", kHingeLossPorts)
              .doc("Loss = max(0, 1 - Logits (2 Labels - 1)) for every element; labels are 0 or 1.")
              .kernels<PairLossKernel<Hinge>::For, float, double>());
  ops.add(pair_loss_gradient(ops, "hinge_loss", kHingeLossPorts)
              .doc("Logits@GRAD = -(2 Labels - 1) Loss@GRAD where the loss is above 0, else 0.")
              .kernels<PairLossGradKernel<HingeGrad>::For, float, double>());
}

}  // namespace paddle_mini
