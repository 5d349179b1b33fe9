// gelu: Out = X times the probability that a standard normal number is below X
#include "math/error_function.h"
#include "math/map_ahead.h"
#include "ops/family/narrow_kernels.h"
#include "ops/family/unary.h"

namespace paddle_mini {
namespace {

constexpr double kRootOfTwoOverPi = 0.79788456080286536, kCubic = 0.044715;

// (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 approximates the probability (Hendrycks, Gimpel: Gaussian Error
// Linear Units, 2016).
template <class V>
PM_HD V nearly_chance(V x) {
  return V(0.5) * (V(1) + tanh(V(kRootOfTwoOverPi) * (x + V(kCubic) * x * x * x)));
}

// The derivative of the probability is exp(-x^2 / 2) / sqrt(2 pi).
struct Gelu {
  template <class V>
  PM_HD V operator()(V x) const {
    return x * NormalChance<number_of<V>>(x).below;
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    NormalChance<number_of<V>> chance(x);
    return gradient * (chance.below + x * (V(0.5 * kRootOfTwoOverPi) * chance.bell));
  }
  template <class V>
  PM_HD V operator()(V x, V gradient, V second) const {
    V density = V(0.5 * kRootOfTwoOverPi) * NormalChance<number_of<V>>(x).bell;
    return gradient * second * density * (V(2) - x * x);
  }
};

struct ApproximateGelu {
  template <class V>
  PM_HD V operator()(V x) const {
    return x * nearly_chance(x);
  }
  template <class V>
  PM_HD V operator()(V x, V gradient) const {
    V p = nearly_chance(x);
    V inner = V(kRootOfTwoOverPi) * (V(1) + V(3 * kCubic) * x * x);
    return gradient * (p + x * V(2) * p * (V(1) - p) * inner);
  }
};

// The functor of a kernel that `approximate` chooses. Both compute so much that the CPU does not prefetch.
template <class T, class K>
struct EitherGelu : Elementwise<K> {
  bool approximate;

  explicit EitherGelu(const KernelInit& init) : approximate(init.attr<bool>("approximate")) {}
  void run(KernelContext& context) override {
    K& kernel = static_cast<K&>(*this);
    kernel.apply([&](auto f, T* out, const auto*... in) { map_ahead(context, kernel.numel(), f, out, in...); });
  }
  template <class Apply, class... Arrays>
  void apply_to(Apply call, Arrays... arrays) const {
    if (approximate) call(ApproximateGelu{}, arrays...);
    else call(Gelu{}, arrays...);
  }
};

template <class T>
struct GeluKernel : EitherGelu<T, GeluKernel<T>> {
  In<T> x;
  Out<T> out;

  explicit GeluKernel(KernelInit& init) : EitherGelu<T, GeluKernel<T>>(init), x(init, "X"), out(init, "Out") {}
  int64_t numel() const { return x.numel(); }
  template <class Apply>
  void apply(Apply call) const {
    this->apply_to(call, out.data(), x.data());
  }
};

template <class T>
struct GeluGradKernel : EitherGelu<T, GeluGradKernel<T>> {
  In<T> x, out_gradient;
  Out<T> x_gradient;

  explicit GeluGradKernel(KernelInit& init)
      : EitherGelu<T, GeluGradKernel<T>>(init), x(init, "X"), out_gradient(init, "Out@GRAD"),
        x_gradient(init, "X@GRAD") {}
  int64_t numel() const { return x.numel(); }
  template <class Apply>
  void apply(Apply call) const {
    this->apply_to(call, x_gradient.data(), x.data(), out_gradient.data());
  }
};

template <class T>
struct GeluSecondKernel : Kernel {
  typename UnarySecondKernel<Gelu, Saved::X>::template For<T> exact;
  typename UnarySecondKernel<ApproximateGelu, Saved::X>::template For<T> nearly;
  bool approximate;

  explicit GeluSecondKernel(KernelInit& init)
      : exact(init), nearly(init), approximate(init.attr<bool>("approximate")) {}
  void run(KernelContext& context) override {
    if (approximate) nearly.run(context);
    else exact.run(context);
  }
};

}  // namespace

void define_gelu(OpTable& ops) {
  ops.add(
      with_halves<GeluKernel>(unary("gelu")
                                  .doc("Out = X (1 + erf(X / sqrt(2))) / 2, element by element; or, when approximate, "
                                       "X (1 + tanh(sqrt(2 / pi) (X + 0.044715 X^3))) / 2.")
                                  .attr("approximate", false, "whether tanh replaces erf")
                                  .gradient("gelu_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
                                  .kernels<GeluKernel, float, double>()));
  ops.add(with_halves<GeluGradKernel>(
      unary_gradient(ops, "gelu")
          .doc("X@GRAD = Out@GRAD times the derivative of the formula of the forward operator.")
          .kernels<GeluGradKernel, float, double>()));
  ops.add(unary_second_gradient(ops, "gelu").kernels<GeluSecondKernel, float, double>());
}

}  // namespace paddle_mini
