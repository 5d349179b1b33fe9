// ftrl: follow the regularized leader; a parameter whose accumulated gradient stays within l1 is exactly 0
#include "math/optimizer_steps.h"
#include "ops/family/optimizer_step.h"

namespace paddle_mini {
namespace {

template <class T>
struct FtrlRule {
  static constexpr bool batchable = true;
  T l1, l2;
  ScalarArg<T> rate;
  T power;
  PM_HD FtrlStep<T> bind_scalars() const { return {l1, l2, rate(), power}; }
};

// Adding 1e-10 to l1 and l2 keeps the division finite before anything is learned; PaddlePaddle adds the same.
template <class T>
struct FtrlSettings {
  static constexpr StatePorts kState[] = {{"SquaredAccumulator", "SquaredAccumOut"},
                                          {"LinearAccumulator", "LinearAccumOut"}};
  In<T> learning_rate;
  T l1, l2, power;

  explicit FtrlSettings(const KernelInit& init)
      : learning_rate(init, "LearningRate"), l1(static_cast<T>(init.attr<float>("l1")) + T(1e-10)),
        l2(static_cast<T>(init.attr<float>("l2")) + T(1e-10)), power(-static_cast<T>(init.attr<float>("lr_power"))) {}
  FtrlRule<T> step() const { return {l1, l2, learning_rate, power}; }
};

}  // namespace

void define_ftrl(OpTable& ops) {
  ops.add(optimizer("ftrl", {}, Grads::Sparse)
              .doc("With k = -lr_power: SquaredAccumOut = SquaredAccumulator + Grad^2, LinearAccumOut = "
                   "LinearAccumulator + Grad - (SquaredAccumOut^k - SquaredAccumulator^k) / LearningRate * Param, and "
                   "ParamOut = (sign(LinearAccumOut) l1 - LinearAccumOut) / (SquaredAccumOut^k / LearningRate + 2 l2) "
                   "where |LinearAccumOut| > l1, otherwise 0. 1e-10 is added to l1 and l2. With a sparse gradient, "
                   "only the rows that it names change; the values of duplicate rows are added first.")
              .input("SquaredAccumulator", "shape of Param")
              .input("LinearAccumulator", "shape of Param")
              .output("SquaredAccumOut", "the same variable as SquaredAccumulator")
              .output("LinearAccumOut", "the same variable as LinearAccumulator")
              .attr("l1", 0.0f, "L1 regularization: the sum of gradients must exceed it before a parameter leaves 0")
              .attr("l2", 0.0f, "L2 regularization")
              .attr("lr_power", -0.5f, "power of the sum of squares by which the learning rate decreases")
              .infer([](InferContext& c) {
                require_state(c, {"SquaredAccumulator", "LinearAccumulator"}, {"LearningRate"});
                require_gradient(c);
                set_updated(c, {"Param"});
                c.set_output("SquaredAccumOut", c.input("SquaredAccumulator"));
                c.set_output("LinearAccumOut", c.input("LinearAccumulator"));
              })
              .updates("SquaredAccumulator", "SquaredAccumOut")
              .updates("LinearAccumulator", "LinearAccumOut")
              .kernels<OptimizerKernel<FtrlSettings>::For, float, double>());
}

}  // namespace paddle_mini
