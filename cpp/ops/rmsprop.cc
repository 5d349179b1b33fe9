// rmsprop: a step along the gradient divided by the root of its mean square, with momentum
#include "core/master_parameter.h"
#include "core/op_table.h"
#include "ops/family/optimizer.h"
#include "math/optimizer_steps.h"

namespace paddle_mini {
namespace {

// The step for rows that the gradient does not contain.
template <class T>
struct RmspropIdle {
  RmspropStep<T> step;

  template <class V, class... More>
  PM_HD auto operator()(V param, More... more) const {
    return step(param, more..., V(T(0)));
  }
};

template <class T, bool idle>
struct RmspropRule {
  static constexpr bool batchable = true;
  T decay, momentum, epsilon;
  ScalarArg<T> rate;

  PM_HD auto bind_scalars() const {
    RmspropStep<T> step{decay, momentum, epsilon, rate()};
    if constexpr (idle) return RmspropIdle<T>{step};
    else return step;
  }
};

template <class T>
struct RmspropKernel : TiledKernel {
  In<T> param, square, grad, moment, learning_rate, mean;
  Out<T> param_out, square_out, moment_out, mean_out;
  T decay, momentum, epsilon;
  bool centered;
  SparseGradient<T> gradient;

  explicit RmspropKernel(KernelInit& init)
      : param(init, "Param"), square(init, "MeanSquare"), grad(init, "Grad"), moment(init, "Moment"),
        learning_rate(init, "LearningRate"), mean(init, "MeanGrad", optional_port), param_out(init, "ParamOut"),
        square_out(init, "MeanSquareOut"), moment_out(init, "MomentOut"), mean_out(init, "MeanGradOut", optional_port),
        decay(static_cast<T>(init.attr<float>("decay"))), momentum(static_cast<T>(init.attr<float>("momentum"))),
        epsilon(static_cast<T>(init.attr<float>("epsilon"))), centered(init.attr<bool>("centered")),
        gradient(init, param, grad) {}

  // Every row is updated: a row that a sparse gradient does not contain has gradient 0, and its averages decay.
  void run(KernelContext& context) override {
    gradient.for_each_row(
        context, [&](int64_t at, int64_t n, const T* g) { update(context, at, n, g); },
        [&](int64_t at, int64_t n) { update(context, at, n); });
  }

  void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
    update(context, begin, end - begin, grad.data() + begin);
  }

  // Called with a gradient, or without one where it is 0.
  template <class... Gradient>
  void update(KernelContext& context, int64_t at, int64_t n, const Gradient*... g) {
    RmspropRule<T, sizeof...(Gradient) == 0> step{decay, momentum, epsilon, learning_rate};
    const T *p = param.data() + at, *s = square.data() + at, *m = moment.data() + at;
    T *p_out = param_out.data() + at, *s_out = square_out.data() + at, *m_out = moment_out.data() + at;
    if (centered) {
      map(context, n, step, std::tuple(p_out, s_out, m_out, mean_out.data() + at), p, s, m, mean.data() + at, g...);
    } else {
      map(context, n, step, std::tuple(p_out, s_out, m_out), p, s, m, g...);
      if (mean_out) copy_part(context, mean, mean_out, at, n);
    }
  }
};

void infer_rmsprop(InferContext& c) {
  require_state(c, {"MeanSquare", "Moment"}, {"LearningRate"});
  require_gradient(c);
  bool in = c.has_input("MeanGrad"), out = c.has_output("MeanGradOut");
  require<ProgramError>(in || !out, "MeanGradOut is given without MeanGrad");
  require<ProgramError>((in && out) || !c.attr<bool>("centered"), "'centered' needs MeanGrad and MeanGradOut");
  if (in) require_state(c, {"MeanGrad"}, {});
  set_updated(c, {"Param", "MeanSquare", "Moment", "MeanGrad"});
}

}  // namespace

void define_rmsprop(OpTable& ops) {
  ops.add(with_master(
      optimizer("rmsprop", {"Moment", "MeanSquare"}, Grads::Sparse)
          .doc("MeanSquareOut = decay MeanSquare + (1 - decay) Grad^2, MomentOut = momentum Moment + LearningRate "
               "* Grad / sqrt(MeanSquareOut + epsilon), ParamOut = Param - MomentOut. Centered: MeanGradOut = "
               "decay MeanGrad + (1 - decay) Grad, and its square is subtracted under the root. A sparse gradient "
               "counts as a dense one with rows of zeros.")
          .optional_input("MeanGrad", "shape of Param; needed when centered")
          .optional_output("MeanGradOut", "the same variable as MeanGrad; unchanged unless centered")
          .attr("epsilon", 1e-10f, "added to the argument of the square root")
          .attr("decay", 0.9f, "decay rate of the averages")
          .attr("momentum", 0.0f, "decay rate of the moment")
          .attr("centered", false, "whether the mean gradient is subtracted")
          .infer(infer_rmsprop)
          .updates("MeanGrad", "MeanGradOut")
          .kernels<RmspropKernel, float, double>()));
}

}  // namespace paddle_mini
