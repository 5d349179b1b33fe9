// Elementwise operators of one input: their kernels and their schemas.
#pragma once

#include "core/op_table.h"
#include "math/map.h"

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

// Out = F(X)
template <class F>
struct UnaryKernel {
  template <class T>
  struct For : PartKernel {
    In<T> x;
    Out<T> out;
    F f;

    explicit For(KernelInit& init) : x(init, "X"), out(init, "Out"), f(function_of<F>(init)) {}
    void run_part(KernelContext& context, int64_t begin, int64_t end) override {
      map(context, end - begin, f, out.data() + begin, x.data() + begin);
    }
    int64_t elements() const override { return x.numel(); }
  };
};

// The forward variable that is saved for the gradient.
enum class Saved { X, Out };
inline const char* port_of(Saved saved) { return saved == Saved::X ? "X" : "Out"; }

// X@GRAD = F(X, Out@GRAD) or F(Out, Out@GRAD)
template <class F, Saved saved>
struct UnaryGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> forward, out_gradient;
    Out<T> x_gradient;
    F f;

    explicit For(KernelInit& init)
        : forward(init, port_of(saved)), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
          f(function_of<F>(init)) {}
    void run(KernelContext& context) override {
      map(context, forward.numel(), f, x_gradient.data(), forward.data(), out_gradient.data());
    }
  };
};

// Schemas without the operator's own items: doc, gradient, kernels.
OpSchema unary(const char* type);                                        // X -> Out
OpSchema unary_gradient(const OpTable& ops, const std::string& forward);  // X or Out, Out@GRAD -> X@GRAD

// Adds an operator, whose schema has neither gradient nor kernels yet, and its gradient: F has a function of one number,
// which is Out, and one of two, which is X@GRAD. It has kernels for Integers, too; the gradient has none.
template <class F, Saved kept, class... Integers>
void add_unary(OpTable& ops, OpSchema forward, const char* gradient_doc) {
  std::string type = forward.type();
  ops.add(forward.gradient(type + "_grad", {port_of(kept), "Out@GRAD"}, {"X@GRAD"})
              .follows("X", "Out")
              .template kernels<UnaryKernel<F>::template For, float, double, Integers...>());
  ops.add(unary_gradient(ops, type)
              .doc(gradient_doc)
              .template kernels<UnaryGradKernel<F, kept>::template For, float, double>());
}

}  // namespace paddle_mini
