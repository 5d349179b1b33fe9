// merged_adam: adam's step for several parameters at once
#include "core/master_parameter.h"
#include "core/op_table.h"
#include "math/adam_step.h"
#include "ops/family/optimizer.h"
#include "math/batch_launches.h"

namespace paddle_mini {
namespace {

template <class T>
struct MergedAdamKernel : Kernel {
  std::vector<In<T>> params, grads, rates, moments1, moments2, powers1, powers2;
  std::vector<Out<T>> params_out, moments1_out, moments2_out, powers1_out, powers2_out;
  T beta1, beta2, epsilon;
  bool global_powers;

  explicit MergedAdamKernel(KernelInit& init)
      : params(in_list<T>(init, "Param")), grads(in_list<T>(init, "Grad")), rates(in_list<T>(init, "LearningRate")),
        moments1(in_list<T>(init, "Moment1")), moments2(in_list<T>(init, "Moment2")),
        powers1(in_list<T>(init, "Beta1Pow")), powers2(in_list<T>(init, "Beta2Pow")),
        params_out(out_list<T>(init, "ParamOut")), moments1_out(out_list<T>(init, "Moment1Out")),
        moments2_out(out_list<T>(init, "Moment2Out")), powers1_out(out_list<T>(init, "Beta1PowOut")),
        powers2_out(out_list<T>(init, "Beta2PowOut")), beta1(static_cast<T>(init.attr<float>("beta1"))),
        beta2(static_cast<T>(init.attr<float>("beta2"))), epsilon(static_cast<T>(init.attr<float>("epsilon"))),
        global_powers(init.attr<bool>("use_global_beta_pow")) {
    if (rates.size() == 1) rates.resize(params.size(), rates[0]);
  }

  void run(KernelContext& context) override;
  // GPU only:
  void step(KernelContext& context, size_t i);
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(merged_adam)

namespace paddle_mini {

void define_merged_adam(OpTable& ops) {
  ops.add(with_master(
      merged_optimizer("merged_adam", {"Moment1", "Moment2"})
          .doc("The step of adam for each parameter.")
          .input_list("Beta1Pow", "for each parameter, one element: beta1^t in step t, counted from 1")
          .input_list("Beta2Pow", "for each parameter, one element: beta2^t in step t, counted from 1")
          .output_list("Beta1PowOut", "the same variable as Beta1Pow")
          .output_list("Beta2PowOut", "the same variable as Beta2Pow")
          .attr("beta1", 0.9f, "decay rate of the first moment", between(0, 1))
          .attr("beta2", 0.999f, "decay rate of the second moment", between(0, 1))
          .attr("epsilon", 1e-8f, "keeps the division finite")
          .attr("use_global_beta_pow", false, "whether the powers are advanced elsewhere")
          .infer([](InferContext& c) { infer_several(c, {"Grad", "Moment1", "Moment2"}, {"Beta1Pow", "Beta2Pow"}); })
          .updates("Beta1Pow", "Beta1PowOut")
          .updates("Beta2Pow", "Beta2PowOut")
          .kernels<MergedAdamKernel, float, double>(),
      Updates::Several));
}

}  // namespace paddle_mini
