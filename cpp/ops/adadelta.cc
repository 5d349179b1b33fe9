// adadelta: the update is the gradient times the ratio of the root mean squares of past updates and past gradients
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"

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
struct AdadeltaKernel : TiledKernel {
  In<T> param, grad, squared_grad, squared_update, learning_rate;
  Out<T> param_out, squared_grad_out, squared_update_out;
  T rho, epsilon;

  explicit AdadeltaKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Grad"), squared_grad(init, "AvgSquaredGrad"),
        squared_update(init, "AvgSquaredUpdate"), learning_rate(init, "LearningRate", optional_port),
        param_out(init, "ParamOut"), squared_grad_out(init, "AvgSquaredGradOut"),
        squared_update_out(init, "AvgSquaredUpdateOut"), rho(static_cast<T>(init.attr<float>("rho"))),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))) {}

  void run(KernelContext& context) override { run_tile(context, 0, param.numel()); }

  void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
    AdadeltaRule<T> step{rho, epsilon, scalar_or(learning_rate, T(1))};
    map(context, end - begin, step,
        std::tuple(param_out.data() + begin, squared_grad_out.data() + begin, squared_update_out.data() + begin),
        param.data() + begin, squared_grad.data() + begin, squared_update.data() + begin, grad.data() + begin);
  }
};

}  // namespace

void define_adadelta(OpTable& ops) {
  ops.add(optimizer("adadelta", {"AvgSquaredGrad", "AvgSquaredUpdate"}, Grads::Dense, Rates::Optional)
              .doc("AvgSquaredGradOut = rho AvgSquaredGrad + (1 - rho) Grad^2, u = -sqrt((AvgSquaredUpdate + epsilon) "
                   "/ (AvgSquaredGradOut + epsilon)) Grad, AvgSquaredUpdateOut = rho AvgSquaredUpdate + (1 - rho) u^2, "
                   "ParamOut = Param + LearningRate * u.")
              .attr("rho", 0.95f, "decay rate of the averages")
              .attr("epsilon", 1e-6f, "keeps the division finite and the first step above 0")
              .attr("multi_precision", false, "for mixed precision; not used by float32 and float64")
              .kernels<AdadeltaKernel, float, double>());
}

}  // namespace paddle_mini
