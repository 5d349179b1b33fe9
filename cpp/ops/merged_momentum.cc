// merged_momentum: momentum's step for several parameters at once
#include "core/master_parameter.h"
#include "core/op_table.h"
#include "math/momentum_step.h"
#include "ops/family/optimizer.h"
#include "math/batch_launches.h"

namespace paddle_mini {
namespace {

template <class T>
struct MergedMomentumKernel : Kernel {
  std::vector<In<T>> params, grads, velocities, rates;
  std::vector<Out<T>> params_out, velocities_out;
  T mu, rescale;
  bool nesterov;
  std::vector<T> decays;

  explicit MergedMomentumKernel(KernelInit& init)
      : params(in_list<T>(init, "Param")), grads(in_list<T>(init, "Grad")), velocities(in_list<T>(init, "Velocity")),
        rates(in_list<T>(init, "LearningRate")), params_out(out_list<T>(init, "ParamOut")),
        velocities_out(out_list<T>(init, "VelocityOut")), mu(static_cast<T>(init.attr<float>("mu"))),
        rescale(static_cast<T>(init.attr<float>("rescale_grad"))), nesterov(init.attr<bool>("use_nesterov")),
        decays(params.size(), T(0)) {
    const auto& methods = init.attr<std::vector<std::string>>("regularization_method");
    for (size_t i = 0; i < methods.size(); ++i) {
      if (methods[i] != "l2_decay") continue;
      decays[i] = static_cast<T>(init.attr<std::vector<float>>("regularization_coeff")[i]);
    }
    // PaddlePaddle has two paths on a CPU, and only the plain one rescales.
    if (rates.size() != 1 || nesterov || !methods.empty()) rescale = T(1);
    if (rates.size() == 1) rates.resize(params.size(), rates[0]);
  }

  void run(KernelContext& context) override {
    batch_launches(context, [&] { step(context); });
  }

  void step(KernelContext& context) {
    for (size_t i = 0; i < params.size(); ++i) {
      MomentumScaled<MomentumRule<T>, T> scaled{{mu, rates[i], decays[i], nesterov}, rescale};
      map(context, params[i].numel(), scaled, std::tuple(params_out[i].data(), velocities_out[i].data()),
          params[i].data(), velocities[i].data(), grads[i].data());
    }
  }
};

void infer_merged_momentum(InferContext& c) {
  infer_several(c, {"Grad", "Velocity"}, {});
  const auto& methods = c.attr<std::vector<std::string>>("regularization_method");
  size_t count = c.input_count("Param"), coefficients = c.attr<std::vector<float>>("regularization_coeff").size();
  if (methods.empty()) return;
  require<ProgramError>(methods.size() == count, "attribute 'regularization_method' has ", methods.size(),
                        " elements, Param has ", count);
  require<ProgramError>(coefficients == count, "attribute 'regularization_coeff' has ", coefficients,
                        " elements, Param has ", count);
  for (const std::string& method : methods) {
    require<ProgramError>(method.empty() || method == "l2_decay", "attribute 'regularization_method' has '",
                          printable(method), "', it must be '' or 'l2_decay'");
  }
}

}  // namespace

void define_merged_momentum(OpTable& ops) {
  ops.add(with_master(
      merged_optimizer("merged_momentum", {"Velocity"})
          .doc("The step of momentum for each parameter.")
          .required_attr("mu", AttrType::Float, "momentum: the factor of the velocity in each step")
          .attr("use_nesterov", false, "whether the step uses Nesterov momentum")
          .attr("regularization_method", std::vector<std::string>{},
                "empty, or one for each parameter: 'l2_decay' adds its regularization_coeff * Param to the gradient")
          .attr("regularization_coeff", std::vector<float>{}, "coefficient of l2_decay, one for each parameter")
          .attr("rescale_grad", 1.0f,
                "factor of the gradients; not used with use_nesterov, with regularization_method or with several "
                "learning rates, as in PaddlePaddle on a CPU")
          .infer(infer_merged_momentum)
          .kernels<MergedMomentumKernel, float, double>(),
      Updates::Several));
}

}  // namespace paddle_mini
