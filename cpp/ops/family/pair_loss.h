// Elementwise losses of two tensors of equal shape: kernels and the shared part of their schemas.
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

// Base class of losses F, whose constructors read attributes: F(x, label) is the loss, F(x, label, gradient) the gradient
// of x, and F::ports names the ports. A loss that rejects some x sets `refuses` and defines fits(x) and
// refuse(x, position), which throws.
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

// Schemas without the operator's own items: doc, attributes, kernels.
OpSchema pair_loss(const std::string& type, const PairPorts& ports);           // with its gradient
OpSchema pair_loss_gradient(const OpTable& ops, const std::string& forward, const PairPorts& ports);

// Adds a loss, whose schema has no kernels yet, and its gradient.
template <class F>
void add_pair_loss(OpTable& ops, OpSchema forward, const char* gradient_doc) {
  std::string type = forward.type();
  ops.add(forward.kernels<PairLossKernel<F>::template For, float, double>());
  ops.add(pair_loss_gradient(ops, type, F::ports)
              .doc(gradient_doc)
              .template kernels<PairLossGradKernel<F>::template For, float, double>());
}

}  // namespace paddle_mini

#include PM_FAMILY(pair_loss)
