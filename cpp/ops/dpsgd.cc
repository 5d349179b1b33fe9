// dpsgd: gradient descent with a gradient that is clipped by its norm and perturbed by noise
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"
#include "math/sum_of.h"

namespace paddle_mini {
namespace {

// Abadi et al. 2016, except that the noise is one number for all elements.
template <class T>
struct DpsgdKernel : Kernel {
  In<T> param, grad, learning_rate;
  Out<T> param_out;
  T clip, batch_size, sigma;
  int32_t seed;
  Scratch<double> squares;

  explicit DpsgdKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Grad"), learning_rate(init, "LearningRate"), param_out(init, "ParamOut"),
        clip(static_cast<T>(init.attr<float>("clip"))), batch_size(static_cast<T>(init.attr<float>("batch_size"))),
        sigma(static_cast<T>(init.attr<float>("sigma"))), seed(init.attr<int32_t>("seed")), squares(init, 1) {}

  void run(KernelContext& context) override {
    uint32_t start = seed ? static_cast<uint32_t>(seed) : static_cast<uint32_t>(context.generator());
    T noise = static_cast<T>(one_normal(start)) * sigma / batch_size;
    sum_to(context, grad.numel(), Squared{}, squares.data(), grad.data());
    DpsgdRule<T> step{learning_rate, squares.data(), clip, noise};
    map(context, param.numel(), step, param_out.data(), param.data(), grad.data());
  }
};

}  // namespace

void define_dpsgd(OpTable& ops) {
  ops.add(optimizer("dpsgd", {})
              .doc("ParamOut = Param - LearningRate * (Grad / max(|Grad| / clip, 1) + z / batch_size) with the "
                   "Euclidean norm of Grad and one z for all elements, drawn from the normal distribution of standard "
                   "deviation sigma.")
              .attr("clip", 10.0f, "largest norm of a gradient that is not scaled", at_least(0))
              .attr("batch_size", 16.0f, "the number of examples in the gradient's mean", at_least(1))
              .attr("sigma", 1.0f, "standard deviation of the noise", at_least(0))
              .attr("seed", 0,
                    "seed of a generator that restarts in each run, so every run has the same noise; 0: the executor's "
                    "generator continues")
              .kernels<DpsgdKernel, float, double>());
}

}  // namespace paddle_mini
