// GPU kernels of gather_nd.
#pragma once

namespace paddle_mini {
namespace {

struct GatherNdKernel : Kernel {
  const Variable& x;
  Variable& out;
  NdIndex index;

  explicit GatherNdKernel(KernelInit& init)
      : x(*init.input("X")), out(*init.output("Out")), index(init, x.tensor.shape, true) {}

  void refuse(const Fault& fault) const override { index.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override {
    size_t bytes = static_cast<size_t>(index.width) * size_of(x.tensor.dtype);
    gather_slabs(context, positions_of(context, index), 1, index.slabs, index.length(), bytes, x.tensor.data,
                 out.tensor.data);
  }
};

template <class T>
struct GatherNdGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  NdIndex index;
  SegmentedScatter by_slab;

  explicit GatherNdGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), index(init, x_gradient.shape(), true),
        by_slab(init, index.slabs) {}

  void refuse(const Fault& fault) const override { index.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override {
    by_slab.sort(context, positions_of(context, index));
    by_slab.put<SegmentedScatter::Combine::Sum, T>(context, 1, index.length(), index.width, nullptr,
                                                   out_gradient.data(), x_gradient.data());
  }
};

}  // namespace
}  // namespace paddle_mini
