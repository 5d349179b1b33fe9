// adamw: adam after ParamOut = Param - LearningRate * lr_ratio * coeff * Param
#include "core/master_parameter.h"
#include "core/op_table.h"
#include "math/adam_step.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"

namespace paddle_mini {
namespace {

template <class T>
struct AdamwKernel : std::conditional_t<kOnGpu, Kernel, TiledKernel> {  // as in adam
  In<T> param, grad, learning_rate, moment1, moment2, beta1_power, beta2_power;
  In<bool> skip_update;
  NumberIn beta1_tensor, beta2_tensor, epsilon_tensor;
  Out<T> param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out;
  float beta1, beta2, epsilon;
  T decay;  // for a learning rate of 1
  bool global_powers;

  explicit AdamwKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Grad"), learning_rate(init, "LearningRate"), moment1(init, "Moment1"),
        moment2(init, "Moment2"), beta1_power(init, "Beta1Pow"), beta2_power(init, "Beta2Pow"),
        skip_update(init, "SkipUpdate", optional_port), beta1_tensor(init, "Beta1Tensor", optional_port),
        beta2_tensor(init, "Beta2Tensor", optional_port), epsilon_tensor(init, "EpsilonTensor", optional_port),
        param_out(init, "ParamOut"), moment1_out(init, "Moment1Out"), moment2_out(init, "Moment2Out"),
        beta1_power_out(init, "Beta1PowOut", optional_port), beta2_power_out(init, "Beta2PowOut", optional_port),
        beta1(init.attr<float>("beta1")), beta2(init.attr<float>("beta2")), epsilon(init.attr<float>("epsilon")),
        decay(static_cast<T>(init.attr<float>("lr_ratio")) * static_cast<T>(init.attr<float>("coeff"))),
        global_powers(init.attr<bool>("use_global_beta_pow")) {
    if (!init.attr<bool>("with_decay")) decay = T(0);
  }

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  void run_tile(KernelContext& context, int64_t begin, int64_t end);

  template <class Step>
  void run_with(KernelContext& context, const Step& step, int64_t begin, int64_t end) {
    map(context, end - begin, step,
        std::tuple(param_out.data() + begin, moment1_out.data() + begin, moment2_out.data() + begin),
        param.data() + begin, moment1.data() + begin, moment2.data() + begin, grad.data() + begin);
  }
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(adamw)

namespace paddle_mini {

void define_adamw(OpTable& ops) {
  ops.add(with_master(
      adam_optimizer("adamw")
          .doc("With with_decay, Param is first multiplied by 1 - LearningRate * lr_ratio * coeff. Then the step "
               "of adam follows. As in PaddlePaddle on a CPU, lr_ratio does not scale adam's step.")
          .attr("lr_ratio", 1.0f, "factor of the learning rate in the decay")
          .attr("coeff", 0.01f, "decay of a step with learning rate 1")
          .attr("with_decay", false, "whether Param decays")
          .attr("lazy_mode", false, "for sparse gradients, which this operator does not support, as in PaddlePaddle")
          .kernels<AdamwKernel, float, double>()));
}

}  // namespace paddle_mini
