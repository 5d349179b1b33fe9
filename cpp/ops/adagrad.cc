// adagrad: MomentOut = Moment + Grad^2; ParamOut = Param - LearningRate * Grad / (sqrt(MomentOut) + epsilon)
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"

namespace paddle_mini {
namespace {

template <class T>
struct AdagradRule {
  static constexpr bool batchable = true;
  ScalarArg<T> rate;
  T epsilon;
  PM_HD AdagradStep<T> bind_scalars() const { return {rate(), epsilon}; }
};

template <class T>
struct AdagradKernel : TiledKernel {
  In<T> param, grad, moment, learning_rate;
  Out<T> param_out, moment_out;
  T epsilon;
  SparseGradient<T> gradient;

  explicit AdagradKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Grad"), moment(init, "Moment"), learning_rate(init, "LearningRate"),
        param_out(init, "ParamOut"), moment_out(init, "MomentOut"),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))), gradient(init, param, grad) {}

  void run(KernelContext& context) override {
    gradient.for_each_row(
        context, [&](int64_t at, int64_t count, const T* g) { update(context, at, count, g); },
        [&](int64_t at, int64_t count) {
          copy_part(context, param, param_out, at, count);
          copy_part(context, moment, moment_out, at, count);
        });
  }

  void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
    update(context, begin, end - begin, grad.data() + begin);
  }

  void update(KernelContext& context, int64_t at, int64_t count, const T* g) {
    map(context, count, AdagradRule<T>{learning_rate, epsilon},
        std::tuple(param_out.data() + at, moment_out.data() + at), param.data() + at, moment.data() + at, g);
  }
};

}  // namespace

void define_adagrad(OpTable& ops) {
  ops.add(
      optimizer("adagrad", {"Moment"}, Grads::Sparse)
          .doc(
              "MomentOut = Moment + Grad^2, ParamOut = Param - LearningRate * Grad / (sqrt(MomentOut) + epsilon). With "
              "a sparse gradient, only the rows that it names change; the values of duplicate rows are added first.")
          .attr("epsilon", 1e-6f, "keeps the division finite")
          .attr("multi_precision", false, "for mixed precision; not used by float32 and float64")
          .kernels<AdagradKernel, float, double>());
}

}  // namespace paddle_mini
