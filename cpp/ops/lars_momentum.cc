// lars_momentum: momentum with a learning rate for each parameter, computed from the norms of the parameter and its
// gradient
#include "core/master_parameter.h"
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"
#include "math/sum_of.h"

namespace paddle_mini {
namespace {

template <class T>
struct LarsMomentumKernel : Kernel {
  std::vector<In<T>> params, grads, velocities, rates;
  std::vector<Out<T>> params_out, velocities_out;
  T mu, coefficient, epsilon, rescale;
  std::vector<float> decays;
  Scratch<double> squares;

  explicit LarsMomentumKernel(KernelInit& init)
      : params(in_list<T>(init, "Param")), grads(in_list<T>(init, "Grad")), velocities(in_list<T>(init, "Velocity")),
        rates(in_list<T>(init, "LearningRate")), params_out(out_list<T>(init, "ParamOut")),
        velocities_out(out_list<T>(init, "VelocityOut")), mu(static_cast<T>(init.attr<float>("mu"))),
        coefficient(static_cast<T>(init.attr<float>("lars_coeff"))),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))), rescale(static_cast<T>(init.attr<float>("rescale_grad"))),
        decays(init.attr<std::vector<float>>("lars_weight_decay")), squares(init, 2) {
    decays.resize(params.size(), decays[0]);
    if (rates.size() == 1) rates.resize(params.size(), rates[0]);
  }

  void run(KernelContext& context) override {
    for (size_t i = 0; i < params.size(); ++i) {
      T decay = static_cast<T>(decays[i]);
      int64_t n = params[i].numel();
      if (decay > T(0)) {
        sum_to(context, n, Squared{}, squares.data(), params[i].data());
        sum_to(context, n, ScaledSquare<T>{rescale}, squares.data() + 1, grads[i].data());
      }
      LarsRule<T> step{mu, coefficient, epsilon, rescale, decay, rates[i], squares.data()};
      map(context, n, step, std::tuple(params_out[i].data(), velocities_out[i].data()), params[i].data(),
          velocities[i].data(), grads[i].data());
    }
  }
};

void infer_lars_momentum(InferContext& c) {
  infer_several(c, {"Grad", "Velocity"}, {});
  size_t decays = c.attr<std::vector<float>>("lars_weight_decay").size(), count = c.input_count("Param");
  require<ProgramError>(decays == 1 || decays == count, "attribute 'lars_weight_decay' has ", decays,
                        " elements, one or as many as Param (", count, ") are needed");
}

}  // namespace

void define_lars_momentum(OpTable& ops) {
  ops.add(with_master(
      merged_optimizer("lars_momentum", {"Velocity"})
          .doc("For each parameter: g = rescale_grad * Grad, rate = LearningRate * lars_coeff * |Param| / (|g| + "
               "lars_weight_decay |Param| + epsilon) of Euclidean norms, or LearningRate itself where one of the "
               "norms or lars_weight_decay is 0; VelocityOut = mu Velocity + rate (g + lars_weight_decay Param), "
               "ParamOut = Param - VelocityOut.")
          .required_attr("mu", AttrType::Float, "momentum: the factor of the velocity in each step")
          .attr("lars_coeff", 0.001f, "ratio of a step's norm to the parameter's norm")
          .attr("lars_weight_decay", std::vector<float>{0.0005f}, "one for all parameters or one for each")
          .attr("epsilon", 0.0f, "in the divisor of the rate")
          .attr("rescale_grad", 1.0f, "factor of the gradients")
          .infer(infer_lars_momentum)
          .kernels<LarsMomentumKernel, float, double>(),
      Updates::Several));
}

}  // namespace paddle_mini
