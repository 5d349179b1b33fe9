// hinge_loss: Loss = max(0, 1 - Logits (2 Labels - 1))
#include "ops/family/pair_loss.h"

namespace paddle_mini {
namespace {

// Maps labels 0 and 1 to the signs -1 and 1.
struct Hinge : PairLoss {
  static constexpr PairPorts ports{"Logits", "Labels", "Loss"};
  using PairLoss::PairLoss;

  template <class V>
  PM_HD V operator()(V logit, V label) const {
    return maximum(V(1) - logit * (label + label - V(1)), V(0));
  }
  template <class V>
  PM_HD V operator()(V logit, V label, V gradient) const {
    V sign = label + label - V(1);
    return select(V(1) - logit * sign > V(0), -(gradient * sign), V(0));
  }
};

}  // namespace

void define_hinge_loss(OpTable& ops) {
  add_pair_loss<Hinge>(ops,
                       pair_loss("hinge_loss", Hinge::ports)
                           .doc("Loss = max(0, 1 - Logits (2 Labels - 1)) for every element; labels are 0 or 1."),
                       "Logits@GRAD = -(2 Labels - 1) Loss@GRAD where the loss is above 0, else 0.");
}

}  // namespace paddle_mini
