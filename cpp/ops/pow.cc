// pow: Out = X to the power of a factor
#include <limits>

#include "math/power.h"
#include "ops/family/unary.h"
#include "math/scalar_arg.h"

namespace paddle_mini {
namespace {

// The factor converted to T. Integers truncate the fraction and saturate, and NaN becomes 0.
template <class T>
PM_HD T power_factor(double factor) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(factor);
  if (factor >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  if (factor <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return factor == factor ? static_cast<T>(factor) : T(0);
}

// Used where the factor is 2.
template <class T>
struct SquareOf {
  template <class V>
  PM_HD V operator()(V v) const {
    return v * v;
  }
  template <class V>
  PM_HD V operator()(V v, V gradient) const {
    return gradient * V(2) * v;
  }
  template <class V>
  PM_HD V operator()(V, V gradient, V second) const {
    return gradient * V(2) * second;
  }
};

template <class T>
struct PowerOf {
  T factor;
  template <class V>
  PM_HD V operator()(V v) const {
    return power(v, V(factor));
  }
  template <class V>
  PM_HD V operator()(V v, V gradient) const {
    return gradient * V(factor) * power(v, V(factor - T(1)));
  }
  template <class V>
  PM_HD V operator()(V v, V gradient, V second) const {
    if (factor == T(0) || factor == T(1)) return V(T(0));  // also where a power of 0 is infinite
    return gradient * second * V(factor * (factor - T(1))) * power(v, V(factor - T(2)));
  }
};

// The exponent: the input FactorTensor if given, else the attribute.
struct Factor {
  NumberIn tensor;
  float attr;

  explicit Factor(const KernelInit& init)
      : tensor(init, "FactorTensor", optional_port), attr(init.attr<float>("factor")) {}

  template <class T, class... Inputs>
  void map_power(KernelContext& context, int64_t n, T* out, const Inputs*... in) const;
};

template <class T>
struct PowKernel : Kernel {
  In<T> x;
  Out<T> out;
  Factor factor;

  explicit PowKernel(KernelInit& init) : x(init, "X"), out(init, "Out"), factor(init) {}
  void run(KernelContext& context) override { factor.map_power(context, x.numel(), out.data(), x.data()); }
};

template <class T>
struct PowGradKernel : Kernel {
  In<T> x, out_gradient;
  Out<T> x_gradient;
  Factor factor;

  explicit PowGradKernel(KernelInit& init)
      : x(init, "X"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), factor(init) {}
  void run(KernelContext& context) override {
    factor.map_power(context, x.numel(), x_gradient.data(), x.data(), out_gradient.data());
  }
};

template <class T>
struct PowSecondKernel : Kernel {
  In<T> x, out_gradient, second;
  Out<T> x_gradient, second_out_gradient;
  Factor factor;

  explicit PowSecondKernel(KernelInit& init)
      : x(init, "X"), out_gradient(init, "grad_out"), second(init, "grad_x@GRAD"),
        x_gradient(init, "X@GRAD", optional_port), second_out_gradient(init, "grad_out@GRAD", optional_port),
        factor(init) {}
  void run(KernelContext& context) override {
    int64_t n = x.numel();
    if (x_gradient) factor.map_power(context, n, x_gradient.data(), x.data(), out_gradient.data(), second.data());
    if (second_out_gradient) factor.map_power(context, n, second_out_gradient.data(), x.data(), second.data());
  }
};

void check_factor(const InferContext& c) {
  if (!c.has_input("FactorTensor")) return;
  require_scalar(c, "FactorTensor");
  require_number(c, "FactorTensor");
}

void infer_pow(InferContext& c) {
  require_tensors(c);
  check_factor(c);
  c.set_output("Out", c.input("X"));
}

void infer_pow_grad(InferContext& c) {
  require_tensors(c);
  check_factor(c);
  require_same_dtype(c, "X", "Out@GRAD");
  require_same_shape(c, "X", "Out@GRAD");
  c.set_output("X@GRAD", c.input("X"));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(pow)

namespace paddle_mini {

void define_pow(OpTable& ops) {
  ops.add(unary("pow")
              .doc("Out = X to the power of the factor, element by element. For integers the factor is truncated "
                   "towards zero, and products wrap around.")
              .optional_input("FactorTensor", "one element, float32 or float64: replaces `factor`")
              .attr("factor", 1.0f, "the exponent")
              .infer(infer_pow)
              .gradient("pow_grad", {"X", "FactorTensor", "Out@GRAD"}, {"X@GRAD"})
              .kernels<PowKernel, float, double, int32_t, int64_t>());
  ops.add(unary_gradient(ops, "pow")
              .doc("X@GRAD = Out@GRAD factor X^(factor - 1).")
              .infer(infer_pow_grad)
              .kernels<PowGradKernel, float, double>());
  ops.add(unary_second_gradient(ops, "pow")
              .optional_input("FactorTensor", "as of pow")
              .kernels<PowSecondKernel, float, double>());
}

}  // namespace paddle_mini
