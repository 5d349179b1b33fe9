// bce_loss: Out = -(Label log X + (1 - Label) log(1 - X)), where X is a probability
#include "ops/family/pair_loss.h"

namespace paddle_mini {
namespace {

// Clamps logarithms to at least -100, so that a loss is finite even where X is 0 or 1.
struct BinaryCrossEntropy : PairLoss {
  static constexpr PairPorts ports{"X", "Label", "Out"};
  using PairLoss::PairLoss;

  static constexpr bool refuses = true;
  template <class T>
  PM_HD static bool fits(T x) {
    return x >= T(0) && x <= T(1);
  }
  template <class T>
  [[noreturn]] static void refuse(T x, int64_t position) {
    fail<OpError>("X holds ", x, " at position ", position, ", which is not a probability between 0 and 1");
  }

  template <class V>
  PM_HD V operator()(V x, V label) const {
    V one(1), floor(number_of<V>(-100));
    return (label - one) * maximum(log(one - x), floor) - label * maximum(log(x), floor);
  }
  template <class V>
  PM_HD V operator()(V x, V label, V gradient) const {
    return gradient * ((x - label) / maximum((V(1) - x) * x, V(number_of<V>(1e-12))));
  }
};

}  // namespace

void define_bce_loss(OpTable& ops) {
  add_pair_loss<BinaryCrossEntropy>(ops,
                                    pair_loss("bce_loss", BinaryCrossEntropy::ports)
                                        .doc("Out = -Label log X - (1 - Label) log(1 - X) for every element; "
                                             "logarithms below -100 count as -100. X outside of [0, 1] is an error.")
                                        .checks_data(),
                                    "X@GRAD = Out@GRAD (X - Label) / max(X (1 - X), 1e-12).");
}

}  // namespace paddle_mini
