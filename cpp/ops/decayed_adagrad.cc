// decayed_adagrad: adagrad with a decaying moment: MomentOut = decay Moment + (1 - decay) Grad^2
#include "math/optimizer_steps.h"
#include "ops/family/optimizer_step.h"

namespace paddle_mini {
namespace {

template <class T>
struct DecayedAdagradRule {
  static constexpr bool batchable = true;
  T decay, epsilon;
  ScalarArg<T> rate;
  PM_HD DecayedAdagradStep<T> bind_scalars() const { return {decay, epsilon, rate()}; }
};

template <class T>
struct DecayedAdagradSettings {
  static constexpr StatePorts kState[] = {{"Moment", "MomentOut"}};
  In<T> learning_rate;
  T decay, epsilon;

  explicit DecayedAdagradSettings(const KernelInit& init)
      : learning_rate(init, "LearningRate"), decay(static_cast<T>(init.attr<float>("decay"))),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))) {}
  DecayedAdagradRule<T> step() const { return {decay, epsilon, learning_rate}; }
};

}  // namespace

void define_decayed_adagrad(OpTable& ops) {
  ops.add(optimizer("decayed_adagrad", {"Moment"})
              .doc("MomentOut = decay Moment + (1 - decay) Grad^2, ParamOut = Param - LearningRate * Grad / "
                   "(sqrt(MomentOut) + epsilon).")
              .attr("decay", 0.95f, "decay rate of the moment")
              .attr("epsilon", 1e-6f, "keeps the division finite")
              .kernels<OptimizerKernel<DecayedAdagradSettings>::For, float, double>());
}

}  // namespace paddle_mini
