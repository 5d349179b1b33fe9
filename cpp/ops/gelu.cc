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

template <class T>
struct GeluKernel : UnaryKernel<Gelu>::For<T> {
  bool approximate;

  explicit GeluKernel(KernelInit& init)
      : UnaryKernel<Gelu>::For<T>(init), approximate(init.attr<bool>("approximate")) {}

  void run(KernelContext& context) override {
    if (approximate) map_ahead(context, this->x.numel(), ApproximateGelu{}, this->out.data(), this->x.data());
    else map_ahead(context, this->x.numel(), Gelu{}, this->out.data(), this->x.data());
  }
};

template <class T>
struct GeluGradKernel : UnaryGradKernel<Gelu, Saved::X>::For<T> {
  bool approximate;

  explicit GeluGradKernel(KernelInit& init)
      : UnaryGradKernel<Gelu, Saved::X>::For<T>(init), approximate(init.attr<bool>("approximate")) {}

  void run(KernelContext& context) override {
    auto fill = [&](auto derivative) {
      map_ahead(context, this->forward.numel(), derivative, this->x_gradient.data(), this->forward.data(),
                this->out_gradient.data());
    };
    if (approximate) fill(ApproximateGelu{});
    else fill(Gelu{});
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
                                  .attr("approximate", false, "whether tanh is replaces erf")
                                  .gradient("gelu_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
                                  .kernels<GeluKernel, float, double>()));
  ops.add(with_halves<GeluGradKernel>(
      unary_gradient(ops, "gelu")
          .doc("X@GRAD = Out@GRAD times the derivative of the formula of the forward operator.")
          .kernels<GeluGradKernel, float, double>()));
  ops.add(unary_second_gradient(ops, "gelu").kernels<GeluSecondKernel, float, double>());
}

}  // namespace paddle_mini
