// adagrad: MomentOut = Moment + Grad^2; ParamOut = Param - LearningRate * Grad / (sqrt(MomentOut) + epsilon)
#include "math/optimizer_steps.h"
#include "core/master_parameter.h"
#include "ops/family/optimizer_step.h"

namespace paddle_mini {
namespace {

template <class T>
struct AdagradRule {
  static constexpr bool batchable = true;
  ScalarArg<T> rate;
  T epsilon;
  PM_HD AdagradStep<T> bind_scalars() const { return {rate(), epsilon}; }
};

template <class T>
struct AdagradSettings {
  static constexpr StatePorts kState[] = {{"Moment", "MomentOut"}};
  In<T> learning_rate;
  T epsilon;

  explicit AdagradSettings(const KernelInit& init)
      : learning_rate(init, "LearningRate"), epsilon(static_cast<T>(init.attr<float>("epsilon"))) {}
  AdagradRule<T> step() const { return {learning_rate, epsilon}; }
};

}  // namespace

void define_adagrad(OpTable& ops) {
  ops.add(with_master(
      optimizer("adagrad", {"Moment"}, Grads::Sparse)
          .doc(
              "MomentOut = Moment + Grad^2, ParamOut = Param - LearningRate * Grad / (sqrt(MomentOut) + epsilon). With "
              "a sparse gradient, only the rows that it names change; the values of duplicate rows are added first.")
          .attr("epsilon", 1e-6f, "keeps the division finite")
          .kernels<OptimizerKernel<AdagradSettings>::For, float, double>()));
}

}  // namespace paddle_mini
