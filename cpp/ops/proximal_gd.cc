// proximal_gd: a step of gradient descent, then a proximal step of l1 and l2 regularization
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"

namespace paddle_mini {
namespace {

template <class T>
struct ProximalGdRule {
  static constexpr bool batchable = true;
  ScalarArg<T> rate;
  T l1, l2;
  PM_HD ProximalGdStep<T> bind_scalars() const { return {rate(), Proximal<T>(rate(), l1, l2)}; }
};

template <class T>
struct ProximalGdKernel : TiledKernel {
  In<T> param, grad, learning_rate;
  Out<T> param_out;
  T l1, l2;

  explicit ProximalGdKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Grad"), learning_rate(init, "LearningRate"), param_out(init, "ParamOut"),
        l1(static_cast<T>(init.attr<float>("l1"))), l2(static_cast<T>(init.attr<float>("l2"))) {}

  void run(KernelContext& context) override { run_tile(context, 0, param.numel()); }

  void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
    ProximalGdRule<T> step{learning_rate, l1, l2};
    map(context, end - begin, step, param_out.data() + begin, param.data() + begin, grad.data() + begin);
  }
};

}  // namespace

void define_proximal_gd(OpTable& ops) {
  ops.add(optimizer("proximal_gd", {})
              .doc("q = Param - LearningRate * Grad, ParamOut = sign(q) max(|q| - LearningRate * l1, 0) / (1 + "
                   "LearningRate * l2).")
              .attr("l1", 0.0f, "L1 regularization of a step with learning rate 1; negative numbers count as 0")
              .attr("l2", 0.0f, "L2 regularization of a step with learning rate 1")
              .kernels<ProximalGdKernel, float, double>());
}

}  // namespace paddle_mini
