// Kernels of elementwise operators of one input whose function is made from attributes.
#pragma once

#include "ops/family/unary.h"

namespace paddle_mini {

// An AttrCheck for what is divided by.
inline void not_zero(const std::string& name, const AttrValue& value) {
  require<ProgramError>(std::get<float>(value) != 0, "attribute '", name, "' is 0, and is divided by");
}

// Out = f(X), with f = F(init)
template <class F>
struct AttrUnaryKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    F f;

    explicit For(KernelInit& init) : x(init, "X"), out(init, "Out"), f(init) {}
    void run(Device& device) override { map(device, x.numel(), f, out.data(), x.data()); }
  };
};

// X@GRAD = f(X, Out@GRAD) or f(Out, Out@GRAD), with f = F(init)
template <class F, Keeps kept>
struct AttrUnaryGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> forward, out_gradient;
    Out<T> x_gradient;
    F f;

    explicit For(KernelInit& init)
        : forward(init, port_of(kept)), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), f(init) {}
    void run(Device& device) override {
      map(device, forward.numel(), f, x_gradient.data(), forward.data(), out_gradient.data());
    }
  };
};

}  // namespace paddle_mini
