// proximal_adagrad: adagrad's step without epsilon, then a proximal step of l1 and l2 regularization
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"

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
struct ProximalAdagradKernel : TiledKernel {
  In<T> param, moment, grad, learning_rate;
  Out<T> param_out, moment_out;
  T l1, l2;

  explicit ProximalAdagradKernel(KernelInit& init)
      : param(init, "Param"), moment(init, "Moment"), grad(init, "Grad"), learning_rate(init, "LearningRate"),
        param_out(init, "ParamOut"), moment_out(init, "MomentOut"), l1(static_cast<T>(init.attr<float>("l1"))),
        l2(static_cast<T>(init.attr<float>("l2"))) {}

  void run(KernelContext& context) override { run_tile(context, 0, param.numel()); }

  void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
    ProximalAdagradRule<T> step{learning_rate, l1, l2};
    map(context, end - begin, step, std::tuple(param_out.data() + begin, moment_out.data() + begin),
        param.data() + begin, moment.data() + begin, grad.data() + begin);
  }
};

}  // namespace

void define_proximal_adagrad(OpTable& ops) {
  ops.add(optimizer("proximal_adagrad", {"Moment"})
              .doc("MomentOut = Moment + Grad^2, q = Param - LearningRate * Grad / sqrt(MomentOut), ParamOut = sign(q) "
                   "max(|q| - LearningRate * l1, 0) / (1 + LearningRate * l2). There is no epsilon, so Moment must "
                   "start above 0: Grad 0 at Moment 0 gives NaN. For programs before PaddlePaddle 2.")
              .attr("l1", 0.0f, "L1 regularization of a step with learning rate 1; negative numbers count as 0")
              .attr("l2", 0.0f, "L2 regularization of a step with learning rate 1")
              .kernels<ProximalAdagradKernel, float, double>());
}

}  // namespace paddle_mini
