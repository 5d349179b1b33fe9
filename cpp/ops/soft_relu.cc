// soft_relu: Out = log(1 + exp(min(max(X, -threshold), threshold)))
#include "ops/family/unary.h"

#include <cmath>
#include <limits>

namespace paddle_mini {
namespace {

struct SoftRelu {
  float threshold;
  double least, largest;  // elements of Out

  explicit SoftRelu(const KernelInit& init)
      : threshold(init.attr<float>("threshold")), least(std::log(1 + std::exp(-static_cast<double>(threshold)))),
        largest(std::log(1 + std::exp(static_cast<double>(threshold)))) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return log(V(1) + exp(minimum(maximum(x, V(-threshold)), V(threshold))));
  }
  template <class V>
  PM_HD V operator()(V out, V gradient) const {
    using T = number_of<V>;
    const T rounding = 8 * std::numeric_limits<T>::epsilon();  // where X is beyond the threshold
    const V low(static_cast<T>(least) * (1 + rounding)), high(static_cast<T>(largest) * (1 - rounding));
    return select(out > low, select(out < high, gradient * (V(1) - exp(-out)), V(0)), V(0));
  }
};

}  // namespace

void define_soft_relu(OpTable& ops) {
  add_unary<SoftRelu, Saved::Out>(
      ops,
      unary("soft_relu")
          .doc("Out = log(1 + exp(min(max(X, -threshold), threshold))), element by element.")
          .attr("threshold", 40.0f, "the largest size of the exponent"),
      "X@GRAD = Out@GRAD (1 - exp(-Out)) where X is between -threshold and threshold, else 0. PaddlePaddle compares "
      "Out "
      "with the threshold in place of X.");
}

}  // namespace paddle_mini
