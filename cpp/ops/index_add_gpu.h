// GPU kernels of index_add.
#pragma once

#include "math/gpu/segmented_scatter.h"
#include "math/gpu/positions.h"

namespace paddle_mini {
namespace {

Positions positions_of(const KernelContext& context, const AddedSlabs& slabs) {
  return {context, slabs.index, slabs.length, true};
}

template <class T>
struct IndexAddKernel : Kernel {
  In<T> x, added;
  Out<T> out;
  AddedSlabs slabs;
  SegmentedScatter by_position;

  explicit IndexAddKernel(KernelInit& init)
      : x(init, "X"), added(init, "AddValue"), out(init, "Out"), slabs(init, x.shape()),
        by_position(init, slabs.index.numel()) {}

  void refuse(const Fault& fault) const override { slabs.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override {
    by_position.sort(context, positions_of(context, slabs));
    by_position.put<SegmentedScatter::Combine::AddTo>(context, slabs.outer, slabs.length, slabs.width, x.data(),
                                                      added.data(), out.data());
  }
};

template <class T>
struct IndexAddGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient, added_gradient;
  AddedSlabs slabs;

  explicit IndexAddGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        added_gradient(init, "AddValue@GRAD", optional_port), slabs(init, out_gradient.shape()) {}

  void refuse(const Fault& fault) const override { slabs.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override {
    if (x_gradient) copy_n(context, out_gradient.data(), out_gradient.numel(), x_gradient.data());
    if (!added_gradient) return;
    size_t bytes = static_cast<size_t>(slabs.width) * sizeof(T);
    gather_slabs(context, positions_of(context, slabs), slabs.outer, slabs.index.numel(), slabs.length, bytes,
                 out_gradient.data(), added_gradient.data());
  }
};

}  // namespace
}  // namespace paddle_mini
