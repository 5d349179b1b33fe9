// lamb: adam's direction with weight decay, in steps as long as the parameter's norm is large
#include "core/op_table.h"
#include "math/adam_step.h"
#include "math/optimizer.h"
#include "math/optimizer_steps.h"
#include "math/sum_of.h"

namespace paddle_mini {
namespace {

#ifdef PM_GPU  // where all numbers are read in the kernel, and whether the step is taken
template <class T>
struct LambRule {
  T beta1, beta2;
  Uniform<T> power1, power2;
  T epsilon, decay;
  PM_HD LambStep<T> ready() const { return {beta1, beta2, T(1) - power1(), T(1) - power2(), epsilon, decay}; }
};

template <class T>
struct LambMoments {
  LambStep<T> step;
  bool stays;
  PM_HD std::tuple<T, T> operator()(T moment1, T moment2, T gradient) const {
    if (stays) return {moment1, moment2};
    return step(moment1, moment2, gradient);
  }
};
template <class T>
struct LambMomentsRule {
  LambRule<T> rule;
  Uniform<bool> stays;
  PM_HD LambMoments<T> ready() const { return {rule.ready(), stays()}; }
};

template <class T>
struct LambSquare {
  LambStep<T> step;
  PM_HD T operator()(T param, T moment1, T moment2) const {
    T d = step.direction(param, moment1, moment2);
    return d * d;
  }
};
template <class T>
struct LambSquareRule {
  LambRule<T> rule;
  PM_HD LambSquare<T> ready() const { return {rule.ready()}; }
};

template <class T>
struct LambMove {
  LambStep<T> step;
  T rate;
  bool stays;
  PM_HD T operator()(T param, T moment1, T moment2) const {
    return stays ? param : param - rate * step.direction(param, moment1, moment2);
  }
};
template <class T>
struct LambMoveRule {
  LambRule<T> rule;
  Uniform<T> rate;
  const double* squares;  // of the parameter and of the direction; none: the step has the rate's length
  Uniform<bool> stays;
  PM_HD LambMove<T> ready() const {
    T ratio = T(1);
    if (squares && squares[0] > 0 && squares[1] > 0) {
      ratio = static_cast<T>(std::sqrt(squares[0]) / std::sqrt(squares[1]));
    }
    return {rule.ready(), rate() * ratio, stays()};
  }
};
#endif

template <class T>
struct LambKernel : Kernel {
  static constexpr int64_t kBlock = 2048;  // three arrays of it stay in the cache between two loops

  In<T> param, grad, learning_rate, moment1, moment2, beta1_power, beta2_power;
  In<bool> skip_update;
  Out<T> param_out, moment1_out, moment2_out, beta1_power_out, beta2_power_out;
  T beta1, beta2, epsilon, decay;
  bool adapts;
  SparseGradient<T> gradient;
  Scratch<double> squares;
  double param_squares = 0, direction_squares = 0;

  explicit LambKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Grad"), learning_rate(init, "LearningRate"), moment1(init, "Moment1"),
        moment2(init, "Moment2"), beta1_power(init, "Beta1Pow"), beta2_power(init, "Beta2Pow"),
        skip_update(init, "SkipUpdate", optional_port), param_out(init, "ParamOut"), moment1_out(init, "Moment1Out"),
        moment2_out(init, "Moment2Out"), beta1_power_out(init, "Beta1PowOut", optional_port),
        beta2_power_out(init, "Beta2PowOut", optional_port), beta1(static_cast<T>(init.attr<float>("beta1"))),
        beta2(static_cast<T>(init.attr<float>("beta2"))), epsilon(static_cast<T>(init.attr<float>("epsilon"))),
        decay(static_cast<T>(init.attr<float>("weight_decay"))),
        adapts(decay > T(0) || init.attr<bool>("always_adapt")), gradient(init, param, grad),
        squares(init, kOnGpu ? 2 : 0) {}

#ifdef PM_GPU
  void run(Device& device) override {
    LambRule<T> rule{beta1, beta2, beta1_power, beta2_power, epsilon, decay};
    Uniform<bool> stays = uniform_or(skip_update, false);
    int64_t n = param.numel();
    const T *m = moment1_out.data(), *v = moment2_out.data();
    map(device, n, LambMomentsRule<T>{rule, stays}, std::tuple(moment1_out.data(), moment2_out.data()), moment1.data(),
        moment2.data(), grad.data());
    if (adapts) {
      sum_to(device, n, Squared{}, squares.data(), param.data());
      sum_to(device, n, LambSquareRule<T>{rule}, squares.data() + 1, param.data(), m, v);
    }
    LambMoveRule<T> move{rule, learning_rate, adapts ? squares.data() : nullptr, stays};
    map(device, n, move, param_out.data(), param.data(), m, v);
    if (beta1_power_out) map(device, 1, AdvancePower<T>{beta1, stays}, beta1_power_out.data(), beta1_power.data());
    if (beta2_power_out) map(device, 1, AdvancePower<T>{beta2, stays}, beta2_power_out.data(), beta2_power.data());
  }
#else

  void run(Device& device) override {
    T power1 = beta1_power[0], power2 = beta2_power[0];
    bool stays = (skip_update && skip_update[0]) || (grad.is_rows() && grad.variable().rows.empty());
    if (stays) {
      copy_all(device, param, param_out);
      copy_all(device, moment1, moment1_out);
      copy_all(device, moment2, moment2_out);
    } else {
      step(device, {beta1, beta2, T(1) - power1, T(1) - power2, epsilon, decay});
    }
    if (beta1_power_out) beta1_power_out[0] = stays ? power1 : beta1 * power1;
    if (beta2_power_out) beta2_power_out[0] = stays ? power2 : beta2 * power2;
  }

  void step(Device& device, const LambStep<T>& s) {
    param_squares = direction_squares = 0;
    gradient.walk(
        device, [&](int64_t at, int64_t count, const T* g) { moments(device, s, at, count, g); },
        [&](int64_t at, int64_t count) { moments(device, s, at, count, nullptr); });
    if (!adapts) return;
    T ratio = T(1);
    if (param_squares > 0 && direction_squares > 0) {
      ratio = static_cast<T>(std::sqrt(param_squares) / std::sqrt(direction_squares));
    }
    move(device, s, 0, param.numel(), learning_rate[0] * ratio);
  }

  // Without a gradient, of rows that a sparse one does not name, it is 0. A step whose length is known
  // already is made on the way.
  void moments(Device& device, const LambStep<T>& s, int64_t begin, int64_t count, const T* g) {
    auto idle = [s](auto m, auto v) { return s(m, v, decltype(m)(T(0))); };
    for (int64_t at = begin; at < begin + count; at += kBlock) {
      int64_t n = std::min(kBlock, begin + count - at);
      std::tuple outputs(moment1_out.data() + at, moment2_out.data() + at);
      const T *m = moment1.data() + at, *v = moment2.data() + at;
      if (g) map(device, n, s, outputs, m, v, g + (at - begin));
      else map(device, n, idle, outputs, m, v);
      if (adapts) add_squares(device, s, at, n);
      else move(device, s, at, n, learning_rate[0]);
    }
  }

  void add_squares(Device& device, const LambStep<T>& s, int64_t at, int64_t n) {
    const T *m = moment1_out.data() + at, *v = moment2_out.data() + at;
    auto square = [s](auto p, auto m, auto v) {
      auto d = s.direction(p, m, v);
      return d * d;
    };
    param_squares += map_sum(device, n, [](auto p) { return p * p; }, param.data() + at);
    direction_squares += map_sum(device, n, square, param.data() + at, m, v);
  }

  void move(Device& device, const LambStep<T>& s, int64_t at, int64_t n, T rate) {
    const T *m = moment1_out.data() + at, *v = moment2_out.data() + at;
    auto step = [s, rate](auto p, auto m, auto v) { return p - decltype(p)(rate) * s.direction(p, m, v); };
    map(device, n, step, param_out.data() + at, param.data() + at, m, v);
  }
#endif
};

void infer_lamb(InferContext& c) {
  require_state(c, {"Moment1", "Moment2"}, {"LearningRate", "Beta1Pow", "Beta2Pow"});
  require_gradient(c);
  require_flag(c, "SkipUpdate");
  set_updated(c, {"Param", "Moment1", "Moment2", "Beta1Pow", "Beta2Pow"});
}

}  // namespace

void define_lamb(OpTable& ops) {
  ops.add(adam_optimizer("lamb", Grads::Sparse)
              .doc("Moments as of adam, t = m / (sqrt(v) + epsilon) + weight_decay * Param of the moments without "
                   "bias, ParamOut = Param - LearningRate * r * t. r = |Param| / |t|, of Euclidean norms; 1 where one "
                   "of them is 0, and without weight_decay unless always_adapt. Then the powers advance. A sparse "
                   "gradient is a dense one with rows of zeros; without any row nothing happens.")
              .required_attr("weight_decay", AttrType::Float, "part of Param in the direction of the step")
              .attr("beta1", 0.9f, "part of the first moment that stays")
              .attr("beta2", 0.999f, "part of the second moment that stays")
              .attr("epsilon", 1e-6f, "keeps the division finite")
              .attr("always_adapt", false, "whether the norms count without weight_decay too")
              .attr("multi_precision", false, "of mixed precision; not used by float32 and float64")
              .infer(infer_lamb)
              .kernels<LambKernel, float, double>());
}

}  // namespace paddle_mini
