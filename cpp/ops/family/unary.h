// Elementwise operators of one input: their kernels, and what all their records say.
#pragma once

#include "core/op_table.h"
#include "math/map.h"

namespace paddle_mini {

// Out = F(X)
template <class F>
struct UnaryKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;

    explicit For(KernelInit& init) : x(init, "X"), out(init, "Out") {}
    void run(Device& device) override { map(device, x.numel(), F{}, out.data(), x.data()); }
  };
};

// What a gradient reads of its forward operator.
enum class Keeps { X, Out };
inline const char* port_of(Keeps kept) { return kept == Keeps::X ? "X" : "Out"; }

// X@GRAD = F(X, Out@GRAD) or F(Out, Out@GRAD)
template <class F, Keeps kept>
struct UnaryGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> forward, out_gradient;
    Out<T> x_gradient;

    explicit For(KernelInit& init)
        : forward(init, port_of(kept)), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {}
    void run(Device& device) override {
      map(device, forward.numel(), F{}, x_gradient.data(), forward.data(), out_gradient.data());
    }
  };
};

// Records that lack what is the operator's own: doc, gradient, kernels.
OpSpec unary(const char* type);                        // X -> Out
OpSpec unary_gradient(const char* type, Keeps kept);   // X or Out, Out@GRAD -> X@GRAD

}  // namespace paddle_mini
