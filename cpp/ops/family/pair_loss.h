// Losses of two tensors of one shape, element by element: their kernels, and what all their schemas say.
#pragma once

#include <cstring>
#include <string>

#include "core/op_table.h"
#include "math/map.h"

namespace paddle_mini {

struct PairPorts {
  const char *x, *label, *loss;  // only x has a gradient
  std::string x_gradient() const { return std::string(x) + "@GRAD"; }
  std::string loss_gradient() const { return std::string(loss) + "@GRAD"; }
};

// What a loss F derives from: it reads attributes in its constructor. One that refuses some x says which fits(x), and
// what refuse(x, position) tells.
struct PairLoss {
  static constexpr bool refuses = false;
  explicit PairLoss(const KernelInit&) {}
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
    void run(KernelContext& context) override {
      if constexpr (F::refuses) check(context);
      map(context, loss.numel(), f, loss.data(), x.data(), label.data());
    }

    void check(KernelContext& context) const;
    void refuse(const Fault& fault) const override {
      if constexpr (F::refuses) {
        double value;
        std::memcpy(&value, &fault.value, sizeof value);
        F::refuse(static_cast<T>(value), fault.at);
      } else {
        Kernel::refuse(fault);
      }
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
    void run(KernelContext& context) override {
      map(context, x_gradient.numel(), f, x_gradient.data(), x.data(), label.data(), gradient.data());
    }
  };
};

// Records that lack what is the operator's own: doc, attributes, kernels.
OpSchema pair_loss(const std::string& type, const PairPorts& ports);           // with its gradient
OpSchema pair_loss_gradient(const OpTable& ops, const std::string& forward, const PairPorts& ports);

}  // namespace paddle_mini

#include PM_FAMILY(pair_loss)
