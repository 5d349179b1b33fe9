// thresholded_relu: Out = X where X > threshold, else 0
#include "ops/family/attr_unary.h"

namespace paddle_mini {
namespace {

struct ThresholdedReluAttributes {
  float threshold;

  explicit ThresholdedReluAttributes(const KernelInit& init) : threshold(init.attr<float>("threshold")) {}
};

struct ThresholdedRelu : ThresholdedReluAttributes {
  using ThresholdedReluAttributes::ThresholdedReluAttributes;

  template <class V>
  PM_HD V operator()(V x) const {
    return select(x <= V(threshold), V(0), x);
  }
};

struct ThresholdedReluGrad : ThresholdedReluAttributes {
  using ThresholdedReluAttributes::ThresholdedReluAttributes;

  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    return select(x > V(threshold), gradient, V(0));
  }
};

}  // namespace

void define_thresholded_relu(OpTable& ops) {
  ops.add(unary("thresholded_relu")
              .doc("Out = X where X > threshold, else 0, element by element.")
              .attr("threshold", 1.0f, "what is not above it becomes 0")
              .gradient("thresholded_relu_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<AttrUnaryKernel<ThresholdedRelu>::For, float, double>());
  ops.add(unary_gradient("thresholded_relu_grad", Keeps::X)
              .doc("X@GRAD = Out@GRAD where X > threshold, else 0.")
              .attr("threshold", 1.0f, "as in the forward operator")
              .on_gpu()
              .kernels<AttrUnaryGradKernel<ThresholdedReluGrad, Keeps::X>::For, float, double>());
}

}  // namespace paddle_mini
