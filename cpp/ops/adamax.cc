// adamax: adam with the largest gradient so far, InfNorm, instead of the second moment
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"

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
struct AdamaxKernel : TiledKernel {
  In<T> param, grad, learning_rate, moment, norm, beta1_power;
  Out<T> param_out, moment_out, norm_out;
  T beta1, beta2, epsilon;

  explicit AdamaxKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Grad"), learning_rate(init, "LearningRate"), moment(init, "Moment"),
        norm(init, "InfNorm"), beta1_power(init, "Beta1Pow"), param_out(init, "ParamOut"),
        moment_out(init, "MomentOut"), norm_out(init, "InfNormOut"), beta1(static_cast<T>(init.attr<float>("beta1"))),
        beta2(static_cast<T>(init.attr<float>("beta2"))), epsilon(static_cast<T>(init.attr<float>("epsilon"))) {}

  void run(KernelContext& context) override { run_tile(context, 0, param.numel()); }

  void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
    AdamaxRule<T> step{beta1, beta2, epsilon, learning_rate, beta1_power};
    map(context, end - begin, step,
        std::tuple(param_out.data() + begin, moment_out.data() + begin, norm_out.data() + begin), param.data() + begin,
        moment.data() + begin, norm.data() + begin, grad.data() + begin);
  }
};

}  // namespace

void define_adamax(OpTable& ops) {
  ops.add(optimizer("adamax", {"Moment", "InfNorm"})
              .doc("MomentOut = beta1 Moment + (1 - beta1) Grad, InfNormOut = max(|Grad|, beta2 InfNorm + epsilon), "
                   "ParamOut = Param - LearningRate / (1 - Beta1Pow) * MomentOut / InfNormOut. Beta1Pow is not "
                   "advanced: programs do that with `scale`.")
              .input("Beta1Pow", "one element: beta1^t in step t, counted from 1")
              .attr("beta1", 0.9f, "decay rate of the moment")
              .attr("beta2", 0.999f, "decay rate of the norm")
              .attr("epsilon", 1e-8f, "keeps the division finite")
              .attr("multi_precision", false, "for mixed precision; not used by float32 and float64")
              .infer([](InferContext& c) {
                require_state(c, {"Moment", "InfNorm"}, {"LearningRate", "Beta1Pow"});
                require_gradient(c);
                set_updated(c, {"Param", "Moment", "InfNorm"});
              })
              .kernels<AdamaxKernel, float, double>());
}

}  // namespace paddle_mini
