// The kernels of pick on a GPU.
#pragma once

#include "math/gpu/by_target.h"
#include "math/gpu/positions.h"

namespace paddle_mini {
namespace {

Positions positions_of(const Device& device, const Picking& pick) { return {device, pick.index, pick.length, false}; }

struct PickKernel : Kernel {
  const Variable& x;
  Variable& out;
  Picking pick;

  explicit PickKernel(KernelInit& init) : x(*init.input("X")), out(*init.output("Out")), pick(init, x.tensor.shape) {}

  void refuse(const Fault& fault) const override { pick.refuse(fault.value, fault.at); }
  void run(Device& device) override {
    size_t bytes = static_cast<size_t>(pick.width) * size_of(x.tensor.dtype);
    gather_slabs(device, positions_of(device, pick), pick.rows, pick.index.numel(), pick.length, bytes, x.tensor.data,
                 out.tensor.data);
  }
};

template <class T>
struct PickGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  Picking pick;
  ByTarget by_position;

  explicit PickGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), pick(init, x_gradient.shape()),
        by_position(init, pick.index.numel()) {}

  void refuse(const Fault& fault) const override { pick.refuse(fault.value, fault.at); }
  void run(Device& device) override {
    by_position.sort(device, positions_of(device, pick));
    by_position.put<ByTarget::Meet::Sum, T>(device, pick.rows, pick.length, pick.width, nullptr, out_gradient.data(),
                                            x_gradient.data());
  }
};

}  // namespace
}  // namespace paddle_mini
