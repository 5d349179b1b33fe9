// momentum: VelocityOut = mu Velocity + Grad; ParamOut = Param - LearningRate * VelocityOut
#include "core/master_parameter.h"
#include "core/op_table.h"
#include "math/momentum_step.h"
#include "ops/family/optimizer.h"

namespace paddle_mini {
namespace {

// The step for rows that the gradient does not contain.
template <class Step>
struct MomentumIdle {
  Step step;
  PM_HD auto bind_scalars() const {
    auto made = step.bind_scalars();
    return MomentumIdle<decltype(made)>{made};
  }
};
template <class T>
struct MomentumIdle<MomentumStep<T>> {
  MomentumStep<T> step;
  template <class V>
  PM_HD std::tuple<V, V> operator()(V p, V v) const {
    return step(p, v, V(T(0)));
  }
};

template <class T>
struct MomentumKernel : TiledKernel {
  In<T> param, grad, velocity, learning_rate;
  Out<T> param_out, velocity_out;
  T mu, decay, rescale;
  bool nesterov;
  int64_t height, width;  // the shape of the table, for a sparse gradient
  RowMerge merge;
  Scratch<T> merged;
  std::vector<RowValues<T>> lists;

  explicit MomentumKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Grad"), velocity(init, "Velocity"), learning_rate(init, "LearningRate"),
        param_out(init, "ParamOut"), velocity_out(init, "VelocityOut"), mu(static_cast<T>(init.attr<float>("mu"))),
        decay(static_cast<T>(init.attr<float>("regularization_coeff"))),
        rescale(static_cast<T>(init.attr<float>("rescale_grad"))), nesterov(init.attr<bool>("use_nesterov")),
        height(param.shape().rank() ? param.shape()[0] : 1),
        width(param.shape().rank() ? param.shape().numel(1, param.shape().rank()) : 1),
        merge(grad.is_rows() ? grad.shape()[0] : 0), merged(init, grad.is_rows() ? grad.numel() : 0), lists(1) {
    if (init.attr<std::string>("regularization_method") != "l2_decay") decay = T(0);
  }

  MomentumRule<T> step() const { return {mu, learning_rate, decay, nesterov}; }

  void run(KernelContext& context) override {
    if (grad.is_rows()) run_sparse(context, step());
    else run_tile(context, 0, param.numel());
  }

  void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
    map(context, end - begin, step(), outputs(begin), param.data() + begin, velocity.data() + begin,
        grad.data() + begin);
  }

  // Every row is updated: a row that the gradient does not contain has gradient 0, and its velocity decays.
  void run_sparse(KernelContext& context, const MomentumRule<T>& step) {
    lists[0] = {&grad.variable().rows, grad.data()};
    merge.run(context, lists, width, merged.data());
    MomentumIdle<MomentumRule<T>> idle{step};
    MomentumScaled<MomentumRule<T>, T> scaled{step, rescale};
    merge.each_row(
        context, height, bytes_cost(5.0 * sizeof(T)) * static_cast<double>(width),
        [&](int64_t row, int64_t i) {
          int64_t at = row * width;
          map(context, width, scaled, outputs(at), param.data() + at, velocity.data() + at,
              static_cast<const T*>(merged.data()) + i * width);
        },
        [&](int64_t row, int64_t count) {
          int64_t at = row * width;
          map(context, count * width, idle, outputs(at), param.data() + at, velocity.data() + at);
        });
  }
  std::tuple<T*, T*> outputs(int64_t at) const { return {param_out.data() + at, velocity_out.data() + at}; }
};

}  // namespace

void define_momentum(OpTable& ops) {
  ops.add(with_master(
      optimizer("momentum", {"Velocity"}, Grads::Sparse)
          .doc("VelocityOut = mu Velocity + Grad, ParamOut = Param - LearningRate * VelocityOut; with "
               "use_nesterov, ParamOut = Param - LearningRate (Grad + mu VelocityOut). A sparse gradient changes "
               "every row of Param; rows that it does not name have gradient 0.")
          .required_attr("mu", AttrType::Float, "momentum: the factor of the velocity in each step")
          .attr("use_nesterov", false, "whether the step uses Nesterov momentum")
          .attr("regularization_method", "", "'l2_decay' adds regularization_coeff * Param to the gradient",
                one_of({"", "l2_decay"}))
          .attr("regularization_coeff", 0.0f, "coefficient of l2_decay")
          .attr("rescale_grad", 1.0f,
                "factor of a sparse gradient; a dense one is not scaled, as in PaddlePaddle on a CPU")
          .kernels<MomentumKernel, float, double>()));
}

}  // namespace paddle_mini
