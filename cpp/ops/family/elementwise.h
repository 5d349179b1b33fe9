// Elementwise operators of two inputs: kernels and the shared part of their schemas.
#pragma once

#include <memory>
#include <optional>

#include "core/half.h"
#include "core/op_table.h"
#include "math/broadcast.h"
#include "math/cast.h"
#include "math/fill.h"

namespace paddle_mini {

// Out = F(X, Y)
template <class F>
struct BinaryKernel {
  template <class T>
  struct For : ElementwiseKernel {
    In<T> x, y;
    Out<T> out;
    Broadcast broadcast;

    explicit For(KernelInit& init)
        : x(init, "X"), y(init, "Y"), out(init, "Out"), broadcast(x.shape(), y.shape(), init.attr<int32_t>("axis")) {}
    void run(KernelContext& context) override { broadcast.map(context, F{}, x.data(), y.data(), out.data()); }
    void run_range(int64_t begin, int64_t end) override {
      broadcast.map_range(begin, end, F{}, x.data(), y.data(), out.data());
    }
  };
};

// The gradient of an operand that may be broadcast: sums of 16-bit floats are float32, and rounded once.
template <class T>
struct BroadcastGradient {
  Out<T> gradient;
  std::optional<Scratch<float>> sums;

  BroadcastGradient(KernelInit& init, const char* port, int64_t result_size) : gradient(init, port, optional_port) {
    if (is_half<T> && gradient && gradient.numel() != result_size) sums.emplace(init, gradient.numel());
  }
  template <class F>
  void fill(KernelContext& context, F fill_array) {
    if constexpr (is_half<T>) {
      if (sums) {
        fill_array(sums->data());
        return cast_function(DType::Float32, dtype_of<T>::value)(context, gradient.numel(), sums->data(),
                                                                 gradient.data());
      }
    }
    fill_array(gradient.data());
  }
};

// X@GRAD = ToX(X, Y, Out@GRAD), Y@GRAD = ToY(X, Y, Out@GRAD), summed over the broadcast axes.
template <class ToX, class ToY>
struct BinaryGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> x, y, out_gradient;
    BroadcastGradient<T> to_x, to_y;
    Broadcast broadcast;

    explicit For(KernelInit& init)
        : x(init, "X"), y(init, "Y"), out_gradient(init, "Out@GRAD"), to_x(init, "X@GRAD", out_gradient.numel()),
          to_y(init, "Y@GRAD", out_gradient.numel()), broadcast(x.shape(), y.shape(), init.attr<int32_t>("axis")) {}

    void run(KernelContext& context) override {
      const T* g = out_gradient.data();
      // Y first: X@GRAD may share the memory of Out@GRAD.
      if (to_y.gradient) {
        to_y.fill(context, [&](auto* to) { broadcast.sum_to_y(context, ToY{}, x.data(), y.data(), g, to); });
      }
      const Out<T>& x_gradient = to_x.gradient;
      // An array without elements may have the address of another one, so equal addresses do not imply equal arrays.
      bool there_already = std::is_same_v<ToX, PassGradient> && x_gradient && x_gradient.data() == g &&
                           x_gradient.numel() == out_gradient.numel();
      if (x_gradient && !there_already) {
        to_x.fill(context, [&](auto* to) { broadcast.sum_to_x(context, ToX{}, x.data(), y.data(), g, to); });
      }
    }
  };
};

// For an F that is linear in both: DDOut = F(DDX, DDY), with zeros for one that is absent.
template <class F>
struct SumSecondKernel {
  template <class T>
  struct For : Kernel {
    In<T> x, y;
    Out<T> out;
    Variable *first, *second;  // DDX and DDY, or zeros
    std::unique_ptr<Broadcast> broadcast;

    explicit For(KernelInit& init)
        : x(init, "DDX", optional_port), y(init, "DDY", optional_port), out(init, "DDOut"), first(init.input("DDX")),
          second(init.input("DDY")) {
      if (!x) first = zeros(init, out.shape());
      if (!y) second = zeros(init, init.input("Y")->tensor.shape);
      broadcast = std::make_unique<Broadcast>(first->tensor.shape, second->tensor.shape, init.attr<int32_t>("axis"));
    }
    void run(KernelContext& context) override {
      for (Variable* zeros : {x ? nullptr : first, y ? nullptr : second})
        if (zeros) fill_n(context, static_cast<T*>(zeros->tensor.data), zeros->tensor.shape.numel(), T(0));
      broadcast->map(context, F{}, static_cast<const T*>(first->tensor.data),
                     static_cast<const T*>(second->tensor.data), out.data());
    }

   private:
    static Variable* zeros(KernelInit& init, const Shape& shape) {
      Variable* made = init.scratch(dtype_of<T>::value, shape.numel());
      made->tensor.shape = shape;
      return made;
    }
  };
};

// Schemas without the operator's own items: doc, gradient, kernels.
GradientRule sum_second_rule(const std::string& type);  // for elementwise_add, elementwise_sub
OpSchema sum_second_gradient(const OpTable& ops, const std::string& type);
OpSchema binary(const char* type);                                          // X, Y -> Out
OpSchema binary_gradient(const OpTable& ops, const std::string& forward);  // X, Y, Out@GRAD -> X@GRAD, Y@GRAD

// Adds an operator, whose schema has neither gradient nor kernels yet, and its gradient.
template <class F, class ToX, class ToY>
void add_binary(OpTable& ops, OpSchema forward, const char* gradient_doc) {
  std::string type = forward.type();
  ops.add(forward.gradient(type + "_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
              .template kernels<BinaryKernel<F>::template For, float, double, int32_t, int64_t>());
  ops.add(binary_gradient(ops, type)
              .doc(gradient_doc)
              .template kernels<BinaryGradKernel<ToX, ToY>::template For, float, double>());
}

}  // namespace paddle_mini
