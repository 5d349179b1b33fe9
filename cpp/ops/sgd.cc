// sgd: ParamOut = Param - LearningRate * Grad
#include "core/master_parameter.h"
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"

namespace paddle_mini {
namespace {

template <class T>
struct SgdRule {
  static constexpr bool batchable = true, updates_parameter = true;
  ScalarArg<T> rate;
  PM_HD SgdStep<T> bind_scalars() const { return {rate()}; }
};

template <class T>
struct SgdKernel : TiledKernel {
  In<T> param, learning_rate, grad;
  Out<T> param_out;
  int64_t width;  // row length of the table, for a sparse gradient

  explicit SgdKernel(KernelInit& init)
      : param(init, "Param"), learning_rate(init, "LearningRate"), grad(init, "Grad"), param_out(init, "ParamOut"),
        width(param.shape().rank() ? param.shape().numel(1, param.shape().rank()) : 1) {}

  SgdRule<T> step() const { return {learning_rate}; }

  void run(KernelContext& context) override {
    if (grad.is_rows()) run_sparse(context);
    else run_tile(context, 0, param.numel());
  }

  void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
    map(context, end - begin, step(), param_out.data() + begin, param.data() + begin, grad.data() + begin);
  }

  void run_sparse(KernelContext& context) {
    if (param.data() != param_out.data()) copy_n(context, param.data(), param.numel(), param_out.data());
    // Rows that occur several times are subtracted one by one.
    update_rows(context, param_out.data(), param.numel() / std::max<int64_t>(width, 1), width, grad.variable().rows,
                grad.data(), step());
  }
};

}  // namespace

void define_sgd(OpTable& ops) {
  ops.add(with_master(
      optimizer("sgd", {}, Grads::Sparse)
          .doc("ParamOut = Param - LearningRate * Grad. With a sparse gradient, only the rows that it names change.")
          .kernels<SgdKernel, float, double>()));
}

}  // namespace paddle_mini
