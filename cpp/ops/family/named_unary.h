// Elementwise operators whose ports have lower-case names, x and out: i0, i0e, i1, i1e, polygamma.
#pragma once

#include "ops/family/unary.h"

namespace paddle_mini {

// out = F(x)
template <class F>
struct NamedUnaryKernel {
  template <class T>
  struct For : Elementwise<For<T>> {
    In<T> x;
    Out<T> out;
    F f;

    explicit For(KernelInit& init) : x(init, "x"), out(init, "out"), f(function_of<F>(init)) {}
    int64_t numel() const { return x.numel(); }
    template <class Apply>
    void apply(Apply call) const {
      call(f, out.data(), x.data());
    }
  };
};

// x@GRAD = F(x, out@GRAD), or F(x, out, out@GRAD)
template <class F, bool takes_out>
struct NamedUnaryGradKernel {
  template <class T>
  struct For : Elementwise<For<T>> {
    In<T> x, out, out_gradient;
    Out<T> x_gradient;
    F f;

    explicit For(KernelInit& init)
        : x(init, "x"), out(init, "out", optional_port), out_gradient(init, "out@GRAD"), x_gradient(init, "x@GRAD"),
          f(function_of<F>(init)) {}
    int64_t numel() const { return x.numel(); }
    template <class Apply>
    void apply(Apply call) const {
      if constexpr (takes_out) call(f, x_gradient.data(), x.data(), out.data(), out_gradient.data());
      else call(f, x_gradient.data(), x.data(), out_gradient.data());
    }
  };
};

OpSchema named_unary(const char* type);  // x -> out, without doc, gradient and kernels

// Adds an operator and its gradient. F has a function of one number, which is out, and one of x, of out if the gradient
// takes it, and of out@GRAD, which is x@GRAD.
template <class F, bool takes_out>
void add_named_unary(OpTable& ops, OpSchema forward, const char* gradient_doc) {
  std::string type = forward.type();
  std::vector<std::string> ports{"x", "out@GRAD"};
  if (takes_out) ports.insert(ports.begin() + 1, "out");
  ops.add(forward.gradient(type + "_grad", ports, {"x@GRAD"})
              .template kernels<NamedUnaryKernel<F>::template For, float, double>());
  ops.add(ops.gradient_of(type)
              .doc(gradient_doc)
              .infer([](InferContext& c) {
                require_tensors(c);
                require_same_dtype(c, "x", "out@GRAD");
                require_same_shape(c, "x", "out@GRAD");
                if (takes_out) require_same_shape(c, "x", "out");
                c.set_output("x@GRAD", c.input("x"));
              })
              .in_place("out@GRAD", "x@GRAD")
              .template kernels<NamedUnaryGradKernel<F, takes_out>::template For, float, double>());
}

}  // namespace paddle_mini
