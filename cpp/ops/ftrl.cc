// ftrl: follow the regularized leader; a parameter whose accumulated gradient stays within l1 is exactly 0
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"

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

template <class T>
struct FtrlKernel : TiledKernel {
  In<T> param, squared, linear, grad, learning_rate;
  Out<T> param_out, squared_out, linear_out;
  T l1, l2, power;
  SparseGradient<T> gradient;

  // Adding 1e-10 to l1 and l2 keeps the division finite before anything is learned; PaddlePaddle adds the same.
  explicit FtrlKernel(KernelInit& init)
      : param(init, "Param"), squared(init, "SquaredAccumulator"), linear(init, "LinearAccumulator"),
        grad(init, "Grad"), learning_rate(init, "LearningRate"), param_out(init, "ParamOut"),
        squared_out(init, "SquaredAccumOut"), linear_out(init, "LinearAccumOut"),
        l1(static_cast<T>(init.attr<float>("l1")) + T(1e-10)), l2(static_cast<T>(init.attr<float>("l2")) + T(1e-10)),
        power(-static_cast<T>(init.attr<float>("lr_power"))), gradient(init, param, grad) {}

  void run(KernelContext& context) override {
    gradient.for_each_row(
        context, [&](int64_t at, int64_t count, const T* g) { update(context, at, count, g); },
        [&](int64_t at, int64_t count) {
          copy_part(context, param, param_out, at, count);
          copy_part(context, squared, squared_out, at, count);
          copy_part(context, linear, linear_out, at, count);
        });
  }

  void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
    update(context, begin, end - begin, grad.data() + begin);
  }

  void update(KernelContext& context, int64_t at, int64_t count, const T* g) {
    map(context, count, FtrlRule<T>{l1, l2, learning_rate, power},
        std::tuple(param_out.data() + at, squared_out.data() + at, linear_out.data() + at), param.data() + at,
        squared.data() + at, linear.data() + at, g);
  }
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
              .kernels<FtrlKernel, float, double>());
}

}  // namespace paddle_mini
