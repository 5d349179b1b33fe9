// adam: ParamOut = Param - LearningRate * m / (sqrt(v) + epsilon), where m and v are bias-corrected averages of Grad
// and Grad^2
#include "core/master_parameter.h"
#include "core/op_table.h"
#include "math/adam_step.h"
#include "ops/family/optimizer.h"

namespace paddle_mini {
namespace {

template <class T>
struct AdamKernel : std::conditional_t<kOnGpu, Kernel, TiledKernel> {  // tiles only serve CPU caches
  In<T> param, grad, learning_rate, moment1, moment2, beta1_power, beta2_power;
  In<bool> skip_update;
  NumberIn beta1_tensor, beta2_tensor, epsilon_tensor;
  Out<T> param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out;
  float beta1, beta2, epsilon;
  bool lazy, global_powers;
  int64_t height, width;  // the sizes of the table if the gradient is sparse
  RowMerge merge;
  Scratch<T> merged;
  std::vector<RowValues<T>> lists;

  explicit AdamKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Grad"), learning_rate(init, "LearningRate"), moment1(init, "Moment1"),
        moment2(init, "Moment2"), beta1_power(init, "Beta1Pow"), beta2_power(init, "Beta2Pow"),
        skip_update(init, "SkipUpdate", optional_port), beta1_tensor(init, "Beta1Tensor", optional_port),
        beta2_tensor(init, "Beta2Tensor", optional_port), epsilon_tensor(init, "EpsilonTensor", optional_port),
        param_out(init, "ParamOut"), moment1_out(init, "Moment1Out"), moment2_out(init, "Moment2Out"),
        beta1_power_out(init, "Beta1PowOut", optional_port), beta2_power_out(init, "Beta2PowOut", optional_port),
        beta1(init.attr<float>("beta1")), beta2(init.attr<float>("beta2")), epsilon(init.attr<float>("epsilon")),
        lazy(init.attr<bool>("lazy_mode")), global_powers(init.attr<bool>("use_global_beta_pow")),
        height(param.shape().rank() ? param.shape()[0] : 1),
        width(param.shape().rank() ? param.shape().numel(1, param.shape().rank()) : 1),
        merge(grad.is_rows() ? grad.shape()[0] : 0), merged(init, grad.is_rows() ? grad.numel() : 0), lists(1) {
    require<DeviceError>(!kOnGpu || !grad.is_rows(), "Grad is selected rows, for which GPUs have no kernel");
  }

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  T beta_1() const;
  T beta_2() const;
  AdamStep<T> step(T power1, T power2) const;
  bool skips() const;
  void run_tile(KernelContext& context, int64_t begin, int64_t end);
  void set_powers(bool stays);
  void update(KernelContext& context, const AdamStep<T>& step, int64_t at, int64_t n, const T* gradient);
  const T* merge_rows(KernelContext& context);
  void run_lazy(KernelContext& context, const AdamStep<T>& step);
  void run_sparse(KernelContext& context, const AdamStep<T>& step);
  double row_cost() const { return 10 + bytes_cost(7.0 * sizeof(T)) * static_cast<double>(width); }
  void copy_to_outputs(KernelContext& context, int64_t begin, int64_t end);

  std::tuple<T*, T*, T*> outputs(int64_t at) const {
    return {param_out.data() + at, moment1_out.data() + at, moment2_out.data() + at};
  }
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(adam)

namespace paddle_mini {

void define_adam(OpTable& ops) {
  ops.add(with_master(
      adam_optimizer("adam", Grads::Sparse)
          .doc("Moment1Out = beta1 Moment1 + (1 - beta1) Grad, Moment2Out = beta2 Moment2 + (1 - beta2) Grad^2, "
               "ParamOut = Param - LearningRate * m / (sqrt(v) + epsilon) with m = Moment1Out / (1 - Beta1Pow) and "
               "v = Moment2Out / (1 - Beta2Pow); then the powers advance. A sparse gradient counts as a dense one "
               "with rows of zeros; with lazy_mode, only the rows that it names change, and the powers advance "
               "before they are used. If it has no rows, nothing changes.")
          .attr("lazy_mode", false, "whether rows without gradient stay unchanged")
          .kernels<AdamKernel, float, double>()));
}

}  // namespace paddle_mini
