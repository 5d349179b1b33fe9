// The kernels of gather_nd on a GPU.
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
  void run(Device& device) override {
    size_t bytes = static_cast<size_t>(index.width) * size_of(x.tensor.dtype);
    gather_slabs(device, positions_of(device, index), 1, index.slabs, index.length(), bytes, x.tensor.data,
                 out.tensor.data);
  }
};

template <class T>
struct GatherNdGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  NdIndex index;
  ByTarget by_slab;

  explicit GatherNdGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), index(init, x_gradient.shape(), true),
        by_slab(init, index.slabs) {}

  void refuse(const Fault& fault) const override { index.refuse(fault.value, fault.at); }
  void run(Device& device) override {
    by_slab.sort(device, positions_of(device, index));
    by_slab.put<ByTarget::Meet::Sum, T>(device, 1, index.length(), index.width, nullptr, out_gradient.data(),
                                        x_gradient.data());
  }
};

}  // namespace
}  // namespace paddle_mini
