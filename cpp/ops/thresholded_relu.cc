// thresholded_relu: Out = X where X > threshold, else 0
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

struct ThresholdedRelu {
  float threshold;

  explicit ThresholdedRelu(const KernelInit& init) : threshold(init.attr<float>("threshold")) {}

  template <class V>
  PM_HD V operator()(V x) const {
    return select(x <= V(threshold), V(0), x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return select(x > V(threshold), gradient, V(0));
  }
};

}  // namespace

void define_thresholded_relu(OpTable& ops) {
  add_unary<ThresholdedRelu, Saved::X>(ops,
                                       unary("thresholded_relu")
                                           .doc("Out = X where X > threshold, else 0, element by element.")
                                           .attr("threshold", 1.0f, "elements not above it become 0"),
                                       "X@GRAD = Out@GRAD where X > threshold, else 0.");
}

}  // namespace paddle_mini
