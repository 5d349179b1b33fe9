// Elementwise operators of one input: their kernels and their schemas.
#pragma once

#include "core/op_table.h"
#include "core/stored_parts.h"
#include "math/dual.h"
#include "math/elementwise.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {

// An AttrCheck for divisors.
inline void not_zero(const std::string& name, const AttrValue& value) {
  require<ProgramError>(std::get<float>(value) != 0, "attribute '", name, "' is 0, but the operator divides by it");
}

// F(init) for a function with attributes, else F().
template <class F>
F function_of(const KernelInit& init) {
  if constexpr (std::is_constructible_v<F, const KernelInit&>) return F(init);
  else return F{};
}

// The base of functions of complex numbers, too. Their power series have real coefficients, so that the conjugate of a
// derivative, by which gradients are multiplied, is the derivative at the conjugate.
struct Analytic {};

template <class F>
struct AtConjugate {
  F f;

  template <class V>
  PM_HD V operator()(V saved, V gradient) const {
    return f(conj(saved), gradient);
  }
};

// Out = F(X)
template <class F>
struct UnaryKernel {
  template <class T>
  struct For : Elementwise<For<T>> {
    In<T> x;
    Out<T> out;
    F f;

    explicit For(KernelInit& init) : x(init, "X"), out(init, "Out"), f(function_of<F>(init)) {}
    int64_t numel() const { return x.numel(); }
    template <class Apply>
    void apply(Apply call) const {
      call(f, out.data(), x.data());
    }
  };
};

// The same for F that is min(max(X, lower()), upper()): in the registers of the operator before it, too, if X and Out share
// the memory of that one's output.
template <class F>
struct ClampKernel {
  template <class T>
  struct For : UnaryKernel<F>::template For<T>, RegisterStepKernel {
    using UnaryKernel<F>::template For<T>::For;

    RegisterStep register_step(const void* array) const override {
      if (this->x.data() != array || this->out.data() != array) return {};
      return {RegisterStep::Kind::Clamp, nullptr, 1, 1, this->f.lower(), this->f.upper()};
    }
  };
};

template <class F, class = void>
struct ForwardKernel : UnaryKernel<F> {};
template <class F>
struct ForwardKernel<F, std::void_t<decltype(&F::upper)>> : ClampKernel<F> {};

// The forward variable that is saved for the gradient.
enum class Saved { X, Out };
inline const char* port_of(Saved saved) { return saved == Saved::X ? "X" : "Out"; }

// X@GRAD = F(X, Out@GRAD) or F(Out, Out@GRAD)
template <class F, Saved saved>
struct UnaryGradKernel {
  template <class T>
  struct For : Elementwise<For<T>> {
    In<T> forward, out_gradient;
    Out<T> x_gradient;
    std::conditional_t<is_complex_number<T>, AtConjugate<F>, F> f;

    explicit For(KernelInit& init)
        : forward(init, port_of(saved)), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
          f{function_of<F>(init)} {}
    int64_t numel() const { return forward.numel(); }
    template <class Apply>
    void apply(Apply call) const {
      call(f, x_gradient.data(), forward.data(), out_gradient.data());
    }
  };
};

// Ports of the gradient of X@GRAD = F(saved, Out@GRAD). They are PaddlePaddle's, whose names differ between operators.
struct UnarySecondPorts {
  std::string type;
  std::string saved;            // X or Out
  std::string given;  // Out@GRAD; X@GRAD for operators that derive Out@GRAD from it; empty if F is linear in parts
  std::string second = "grad_x@GRAD";  // the gradient of X@GRAD
  std::string given_gradient = "grad_out@GRAD";  // that of Out@GRAD

  bool gives_x_gradient() const { return given == "grad_x"; }
};

std::string unary_forward_of(const std::string& second);  // "relu" for "relu_grad_grad"
UnarySecondPorts unary_second_ports(const std::string& forward, const std::string& saved);

// `second` times the derivative of F(saved, given) with respect to `saved`. F may have a function of three numbers for it.
template <class F>
struct SavedGradient {
  F f;

  template <class V>
  PM_HD V operator()(V saved, V given, V second) const {
    if constexpr (std::is_invocable_v<const F&, V, V, V>) return f(saved, given, second);
    else return second * f(Dual<V>(saved, V(1)), Dual<V>(given, V(0))).slope;
  }
};

// The same where `given` is not Out@GRAD but F(saved, Out@GRAD).
template <class F>
struct SavedGradientOfResult {
  F f;

  template <class V>
  PM_HD V operator()(V saved, V given, V second) const {
    Dual<V> factor = f(Dual<V>(saved, V(1)), Dual<V>(V(1), V(0)));
    return second * given * factor.slope / factor.value;
  }
};

// The ports of the kernels of all functions.
struct UnarySecond : Kernel {
  Variable *saved, *given, *second, *saved_gradient, *given_gradient;  // given and gradients: nullptr where absent
  bool gives_x_gradient;

  UnarySecond(KernelInit& init, Saved kept, DType dtype);
};

// With X@GRAD = F(saved, Out@GRAD), which is Out@GRAD times a factor: the gradient of Out@GRAD is F(saved, second).
template <class F, Saved kept>
struct UnarySecondKernel {
  template <class T>
  struct For : UnarySecond {
    F f;

    explicit For(KernelInit& init) : UnarySecond(init, kept, dtype_of<T>::value), f(function_of<F>(init)) {}

    void run(KernelContext& context) override {
      // First: the other output may have the memory of `second`.
      if (saved_gradient) fill_saved_gradient(context);
      if (given_gradient) map(context, saved->tensor.shape.numel(), f, at<T>(given_gradient), at(saved), at(second));
    }

   private:
    template <class Element = const T>
    static Element* at(const Variable* variable) {
      return static_cast<Element*>(variable->tensor.data);
    }
    void fill_saved_gradient(KernelContext& context) {
      auto fill = [&](auto derivative) {
        map(context, saved->tensor.shape.numel(), derivative, at<T>(saved_gradient), at(saved), at(given), at(second));
      };
      if constexpr (kept == Saved::Out) {
        if (gives_x_gradient) return fill(SavedGradientOfResult<F>{f});
      }
      fill(SavedGradient<F>{f});
    }
  };
};

// Schemas without the operator's own items: doc, gradient, kernels.
OpSchema unary(const char* type);  // X -> Out
OpSchema unary_gradient(const OpTable& ops, const std::string& forward);  // X or Out, Out@GRAD -> X@GRAD
OpSchema same_shape_gradient(const OpTable& ops,
                             const std::string& forward);  // likewise, without a gradient of its own
OpSchema unary_second_gradient(const OpTable& ops, const std::string& forward);  // with a doc, without kernels

// Adds the gradient of the gradient of `forward`, which the table has.
template <class F, Saved kept>
void add_unary_second(OpTable& ops, const std::string& forward) {
  ops.add(
      unary_second_gradient(ops, forward).template kernels<UnarySecondKernel<F, kept>::template For, float, double>());
}

// The schema with kernels for complex numbers, too, if F is Analytic.
template <class F, template <class> class K>
OpSchema with_analytic(OpSchema schema) {
  if constexpr (std::is_base_of_v<Analytic, F>) return with_complex<K>(std::move(schema));
  else return schema;
}

// Adds an operator, whose schema has neither gradient nor kernels yet, and its gradient: F has a function of one number,
// which is Out, and one of two, which is X@GRAD. It has kernels for Integers, too; the gradient has none.
// Adds the gradient of the gradient, too.
template <class F, Saved kept, class... Integers>
void add_unary(OpTable& ops, OpSchema forward, const char* gradient_doc) {
  std::string type = forward.type();
  ops.add(with_analytic<F, UnaryKernel<F>::template For>(
      forward.gradient(type + "_grad", {port_of(kept), "Out@GRAD"}, {"X@GRAD"})
          .template kernels<ForwardKernel<F>::template For, float, double, Integers...>()));
  ops.add(with_analytic<F, UnaryGradKernel<F, kept>::template For>(
      unary_gradient(ops, type)
          .doc(gradient_doc)
          .template kernels<UnaryGradKernel<F, kept>::template For, float, double>()));
  add_unary_second<F, kept>(ops, type);
}

}  // namespace paddle_mini
