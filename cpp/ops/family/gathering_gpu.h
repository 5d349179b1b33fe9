// Kernels of gathering on a GPU.
#pragma once

#include "math/gpu/segmented_scatter.h"
#include "math/gpu/positions.h"

namespace paddle_mini {
namespace {

Positions positions_of(const KernelContext& context, const Gathering& gathering) {
  return {context, gathering.index, gathering.length, false};
}

struct GatherKernel : Kernel {
  const Variable& x;
  Variable& out;
  Gathering gathering;

  explicit GatherKernel(KernelInit& init)
      : x(*init.input("X")), out(*init.output("Out")), gathering(init, x.tensor.shape) {}

  void refuse(const Fault& fault) const override { gathering.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override {
    size_t bytes = static_cast<size_t>(gathering.width) * size_of(x.tensor.dtype);
    gather_slabs(context, positions_of(context, gathering), gathering.rows, gathering.index.numel(), gathering.length,
                 bytes, x.tensor.data, out.tensor.data);
  }
};

template <class T>
struct PickGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  Gathering gathering;
  SegmentedScatter by_position;

  explicit PickGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), gathering(init, x_gradient.shape()),
        by_position(init, gathering.index.numel()) {}

  void refuse(const Fault& fault) const override { gathering.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override {
    by_position.sort(context, positions_of(context, gathering));
    by_position.put<SegmentedScatter::Combine::Sum, T>(context, gathering.rows, gathering.length, gathering.width,
                                                       nullptr, out_gradient.data(), x_gradient.data());
  }
};

}  // namespace
}  // namespace paddle_mini
