// Losses of two tensors of one shape, element by element: their kernels, and what all their records say.
#pragma once

#include <string>

#include "core/op_table.h"
#include "math/map.h"

namespace paddle_mini {

struct PairPorts {
  const char *x, *label, *loss;  // only x has a gradient
  std::string x_gradient() const { return std::string(x) + "@GRAD"; }
  std::string loss_gradient() const { return std::string(loss) + "@GRAD"; }
};

// What a loss F derives from: it reads attributes in its constructor, and may refuse x.
struct PairLoss {
  explicit PairLoss(const KernelInit&) {}
  template <class T>
  static void check(const In<T>&) {}
};

// loss = F(x, label)
template <class F>
struct PairLossKernel {
  template <class T>
  struct For : Kernel {
    F f;
    In<T> x, label;
    Out<T> loss;

    explicit For(KernelInit& init)
        : f(init), x(init, F::ports.x), label(init, F::ports.label), loss(init, F::ports.loss) {}
    void run(Device& device) override {
      F::check(x);
      map(device, loss.numel(), f, loss.data(), x.data(), label.data());
    }
  };
};

// x's gradient = F(x, label, loss's gradient)
template <class F>
struct PairLossGradKernel {
  template <class T>
  struct For : Kernel {
    F f;
    In<T> x, label, gradient;
    Out<T> x_gradient;

    explicit For(KernelInit& init)
        : f(init), x(init, F::ports.x), label(init, F::ports.label), gradient(init, F::ports.loss_gradient().c_str()),
          x_gradient(init, F::ports.x_gradient().c_str()) {}
    void run(Device& device) override {
      map(device, x_gradient.numel(), f, x_gradient.data(), x.data(), label.data(), gradient.data());
    }
  };
};

// Records that lack what is the operator's own: doc, attributes, kernels.
OpSpec pair_loss(const std::string& type, const PairPorts& ports);           // with its gradient
OpSpec pair_loss_gradient(const std::string& type, const PairPorts& ports);  // type: of the forward operator

}  // namespace paddle_mini
