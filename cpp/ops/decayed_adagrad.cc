// decayed_adagrad: adagrad with a decaying moment: MomentOut = decay Moment + (1 - decay) Grad^2
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"

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
struct DecayedAdagradKernel : TiledKernel {
  In<T> param, grad, moment, learning_rate;
  Out<T> param_out, moment_out;
  T decay, epsilon;

  explicit DecayedAdagradKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Grad"), moment(init, "Moment"), learning_rate(init, "LearningRate"),
        param_out(init, "ParamOut"), moment_out(init, "MomentOut"), decay(static_cast<T>(init.attr<float>("decay"))),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))) {}

  void run(KernelContext& context) override { run_tile(context, 0, param.numel()); }

  void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
    DecayedAdagradRule<T> step{decay, epsilon, learning_rate};
    map(context, end - begin, step, std::tuple(param_out.data() + begin, moment_out.data() + begin),
        param.data() + begin, moment.data() + begin, grad.data() + begin);
  }
};

}  // namespace

void define_decayed_adagrad(OpTable& ops) {
  ops.add(optimizer("decayed_adagrad", {"Moment"})
              .doc("MomentOut = decay Moment + (1 - decay) Grad^2, ParamOut = Param - LearningRate * Grad / "
                   "(sqrt(MomentOut) + epsilon).")
              .attr("decay", 0.95f, "decay rate of the moment")
              .attr("epsilon", 1e-6f, "keeps the division finite")
              .kernels<DecayedAdagradKernel, float, double>());
}

}  // namespace paddle_mini
