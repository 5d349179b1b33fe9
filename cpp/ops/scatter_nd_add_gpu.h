// The kernels of scatter_nd_add on a GPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
struct ScatterNdAddKernel : Kernel {
  In<T> x, updates;
  Out<T> out;
  NdIndex index;
  SegmentedScatter by_slab;

  explicit ScatterNdAddKernel(KernelInit& init)
      : x(init, "X"), updates(init, "Updates"), out(init, "Out"), index(init, x.shape(), false),
        by_slab(init, index.slabs) {}

  void refuse(const Fault& fault) const override { index.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override {
    by_slab.sort(context, positions_of(context, index));
    by_slab.put<SegmentedScatter::Combine::AddTo>(context, 1, index.length(), index.width, x.data(), updates.data(),
                                                  out.data());
  }
};

template <class T>
struct ScatterNdAddGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient, updates_gradient;
  NdIndex index;

  explicit ScatterNdAddGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        updates_gradient(init, "Updates@GRAD", optional_port), index(init, out_gradient.shape(), false) {}

  void refuse(const Fault& fault) const override { index.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override {
    if (x_gradient) copy_n(context, out_gradient.data(), out_gradient.numel(), x_gradient.data());
    if (!updates_gradient) return;
    size_t bytes = static_cast<size_t>(index.width) * sizeof(T);
    gather_slabs(context, positions_of(context, index), 1, index.slabs, index.length(), bytes, out_gradient.data(),
                 updates_gradient.data());
  }
};

}  // namespace
}  // namespace paddle_mini
