// adamax: adam with the largest gradient so far, InfNorm, instead of the second moment
#include "math/optimizer_steps.h"
#include "core/master_parameter.h"
#include "ops/family/optimizer_step.h"

namespace paddle_mini {
namespace {

template <class T>
struct AdamaxRule {
  static constexpr bool batchable = true;
  T beta1, beta2, epsilon;
  ScalarArg<T> rate, power;
  PM_HD AdamaxStep<T> bind_scalars() const { return {beta1, beta2, epsilon, rate() / (T(1) - power())}; }
};

template <class T>
struct AdamaxSettings {
  static constexpr StatePorts kState[] = {{"Moment", "MomentOut"}, {"InfNorm", "InfNormOut"}};
  In<T> learning_rate, beta1_power;
  T beta1, beta2, epsilon;

  explicit AdamaxSettings(const KernelInit& init)
      : learning_rate(init, "LearningRate"), beta1_power(init, "Beta1Pow"),
        beta1(static_cast<T>(init.attr<float>("beta1"))), beta2(static_cast<T>(init.attr<float>("beta2"))),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))) {}
  AdamaxRule<T> step() const { return {beta1, beta2, epsilon, learning_rate, beta1_power}; }
};

}  // namespace

void define_adamax(OpTable& ops) {
  ops.add(with_master(
      optimizer("adamax", {"Moment", "InfNorm"})
          .doc("MomentOut = beta1 Moment + (1 - beta1) Grad, InfNormOut = max(|Grad|, beta2 InfNorm + epsilon), "
               "ParamOut = Param - LearningRate / (1 - Beta1Pow) * MomentOut / InfNormOut. Beta1Pow is not "
               "advanced: programs do that with `scale`.")
          .input("Beta1Pow", "one element: beta1^t in step t, counted from 1")
          .attr("beta1", 0.9f, "decay rate of the moment")
          .attr("beta2", 0.999f, "decay rate of the norm")
          .attr("epsilon", 1e-8f, "keeps the division finite")
          .infer([](InferContext& c) {
            require_state(c, {"Moment", "InfNorm"}, {"LearningRate", "Beta1Pow"});
            require_gradient(c);
            set_updated(c, {"Param", "Moment", "InfNorm"});
          })
          .kernels<OptimizerKernel<AdamaxSettings>::For, float, double>()));
}

}  // namespace paddle_mini
