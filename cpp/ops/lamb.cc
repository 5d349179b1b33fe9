// lamb: adam's direction with weight decay, in steps whose length is the parameter's norm times the learning rate
#include "core/master_parameter.h"
#include "core/op_table.h"
#include "math/adam_step.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"
#include "math/sum_of.h"

namespace paddle_mini {
namespace {

template <class T>
struct LambKernel : Kernel {
  static constexpr int64_t kBlock = 2048;  // three arrays of this size stay in the cache between two loops

  In<T> param, grad, learning_rate, moment1, moment2, beta1_power, beta2_power;
  In<bool> skip_update;
  Out<T> param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out;
  T beta1, beta2, epsilon, decay;
  bool adapts;
  SparseGradient<T> gradient;
  Scratch<double> squares;  // sums for the parameter and the direction; on a CPU for each block

  explicit LambKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Grad"), learning_rate(init, "LearningRate"), moment1(init, "Moment1"),
        moment2(init, "Moment2"), beta1_power(init, "Beta1Pow"), beta2_power(init, "Beta2Pow"),
        skip_update(init, "SkipUpdate", optional_port), param_out(init, "ParamOut"), moment1_out(init, "Moment1Out"),
        moment2_out(init, "Moment2Out"), beta1_power_out(init, "Beta1PowOut", optional_port),
        beta2_power_out(init, "Beta2PowOut", optional_port), beta1(static_cast<T>(init.attr<float>("beta1"))),
        beta2(static_cast<T>(init.attr<float>("beta2"))), epsilon(static_cast<T>(init.attr<float>("epsilon"))),
        decay(static_cast<T>(init.attr<float>("weight_decay"))),
        adapts(decay > T(0) || init.attr<bool>("always_adapt")), gradient(init, param, grad),
        squares(init, kOnGpu ? 2 : 2 * blocks_of(param.numel())) {}

  static int64_t blocks_of(int64_t elements) { return (elements + kBlock - 1) / kBlock; }

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  void step(KernelContext& context, const LambStep<T>& s);
  void moments(KernelContext& context, const LambStep<T>& s, int64_t at, int64_t count, const T* g);
  void write_squares(KernelContext& context, const LambStep<T>& s, int64_t at, int64_t count, double* sums);
  void move(KernelContext& context, const LambStep<T>& s, int64_t at, int64_t n, T rate);
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(lamb)

namespace paddle_mini {

void define_lamb(OpTable& ops) {
  ops.add(with_master(
      moments_optimizer("lamb", Grads::Sparse)
          .doc("The moments are those of adam. With the bias-corrected moments m and v, t = m / (sqrt(v) + "
               "epsilon) + weight_decay * Param and ParamOut = Param - LearningRate * r * t. r = |Param| / |t| "
               "with Euclidean norms; r = 1 if one of them is 0, or if weight_decay is 0 and always_adapt is "
               "false. Then the powers advance. A sparse gradient counts as a dense one with rows of zeros; if it "
               "has no rows, nothing changes.")
          .required_attr("weight_decay", AttrType::Float, "factor of Param in the direction of the step")
          .attr("beta1", 0.9f, "decay rate of the first moment")
          .attr("beta2", 0.999f, "decay rate of the second moment")
          .attr("epsilon", 1e-6f, "keeps the division finite")
          .attr("always_adapt", false, "whether r also applies if weight_decay is 0")
          .kernels<LambKernel, float, double>()));
}

}  // namespace paddle_mini
