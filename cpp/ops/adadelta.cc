// adadelta: the update is the gradient times the ratio of the root mean squares of past updates and past gradients
#include "math/optimizer_steps.h"
#include "core/master_parameter.h"
#include "ops/family/optimizer_step.h"

namespace paddle_mini {
namespace {

template <class T>
struct AdadeltaRule {
  static constexpr bool batchable = true;
  T rho, epsilon;
  ScalarArg<T> rate;
  PM_HD AdadeltaStep<T> bind_scalars() const { return {rho, epsilon, rate()}; }
};

template <class T>
struct AdadeltaSettings {
  static constexpr StatePorts kState[] = {{"AvgSquaredGrad", "AvgSquaredGradOut"},
                                          {"AvgSquaredUpdate", "AvgSquaredUpdateOut"}};
  In<T> learning_rate;
  T rho, epsilon;

  explicit AdadeltaSettings(const KernelInit& init)
      : learning_rate(init, "LearningRate", optional_port), rho(static_cast<T>(init.attr<float>("rho"))),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))) {}
  AdadeltaRule<T> step() const { return {rho, epsilon, scalar_or(learning_rate, T(1))}; }
};

}  // namespace

void define_adadelta(OpTable& ops) {
  ops.add(with_master(
      optimizer("adadelta", {"AvgSquaredGrad", "AvgSquaredUpdate"}, Grads::Dense, Rates::Optional)
          .doc("AvgSquaredGradOut = rho AvgSquaredGrad + (1 - rho) Grad^2, u = -sqrt((AvgSquaredUpdate + epsilon) "
               "/ (AvgSquaredGradOut + epsilon)) Grad, AvgSquaredUpdateOut = rho AvgSquaredUpdate + (1 - rho) u^2, "
               "ParamOut = Param + LearningRate * u.")
          .attr("rho", 0.95f, "decay rate of the averages")
          .attr("epsilon", 1e-6f, "keeps the division finite and the first step above 0")
          .kernels<OptimizerKernel<AdadeltaSettings>::For, float, double>()));
}

}  // namespace paddle_mini
