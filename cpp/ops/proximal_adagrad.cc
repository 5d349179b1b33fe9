// proximal_adagrad: adagrad's step without epsilon, then a proximal step of l1 and l2 regularization
#include "math/optimizer_steps.h"
#include "ops/family/optimizer_step.h"

namespace paddle_mini {
namespace {

template <class T>
struct ProximalAdagradRule {
  static constexpr bool batchable = true;
  ScalarArg<T> rate;
  T l1, l2;
  PM_HD ProximalAdagradStep<T> bind_scalars() const { return {rate(), Proximal<T>(rate(), l1, l2)}; }
};

template <class T>
struct ProximalAdagradSettings {
  static constexpr StatePorts kState[] = {{"Moment", "MomentOut"}};
  In<T> learning_rate;
  T l1, l2;

  explicit ProximalAdagradSettings(const KernelInit& init)
      : learning_rate(init, "LearningRate"), l1(static_cast<T>(init.attr<float>("l1"))),
        l2(static_cast<T>(init.attr<float>("l2"))) {}
  ProximalAdagradRule<T> step() const { return {learning_rate, l1, l2}; }
};

}  // namespace

void define_proximal_adagrad(OpTable& ops) {
  ops.add(optimizer("proximal_adagrad", {"Moment"})
              .doc("MomentOut = Moment + Grad^2, q = Param - LearningRate * Grad / sqrt(MomentOut), ParamOut = sign(q) "
                   "max(|q| - LearningRate * l1, 0) / (1 + LearningRate * l2). There is no epsilon, so Moment must "
                   "start above 0: Grad 0 at Moment 0 gives NaN. For programs before PaddlePaddle 2.")
              .attr("l1", 0.0f, "L1 regularization of a step with learning rate 1; negative numbers count as 0")
              .attr("l2", 0.0f, "L2 regularization of a step with learning rate 1")
              .kernels<OptimizerKernel<ProximalAdagradSettings>::For, float, double>());
}

}  // namespace paddle_mini
