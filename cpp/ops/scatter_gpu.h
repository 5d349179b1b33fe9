// The kernels of scatter on a GPU.
#pragma once

#include "math/gpu/segmented_scatter.h"
#include "math/gpu/positions.h"

namespace paddle_mini {
namespace {

Positions positions_of(const KernelContext& context, const ScatterRows& rows) {
  return {context, rows.ids, rows.height, false};
}

template <class T>
struct ScatterKernel : Kernel {
  using Combine = SegmentedScatter::Combine;
  In<T> x, updates;
  Out<T> out;
  ScatterRows rows;
  bool overwrite;
  SegmentedScatter by_row;

  explicit ScatterKernel(KernelInit& init)
      : x(init, "X"), updates(init, "Updates"), out(init, "Out"), rows(init, x.shape()),
        overwrite(init.attr<bool>("overwrite")), by_row(init, rows.ids.numel()) {}

  void refuse(const Fault& fault) const override { rows.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override {
    by_row.sort(context, positions_of(context, rows));
    if (overwrite) put<Combine::Last>(context);
    else put<Combine::SumInstead>(context);
  }
  template <Combine combine>
  void put(KernelContext& context) {
    by_row.put<combine>(context, 1, rows.height, rows.width, x.data(), updates.data(), out.data());
  }
};

template <class T>
struct ScatterGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient, updates_gradient;
  ScatterRows rows;

  explicit ScatterGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        updates_gradient(init, "Updates@GRAD", optional_port), rows(init, out_gradient.shape()) {}

  void refuse(const Fault& fault) const override { rows.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override {
    Positions at = positions_of(context, rows);
    int64_t n = rows.ids.numel();
    if (x_gradient) {
      copy_n(context, out_gradient.data(), out_gradient.numel(), x_gradient.data());
      zero_slabs(context, at, n, rows.width, x_gradient.data());
    }
    if (!updates_gradient) return;
    size_t bytes = static_cast<size_t>(rows.width) * sizeof(T);
    gather_slabs(context, at, 1, n, rows.height, bytes, out_gradient.data(), updates_gradient.data());
  }
};

}  // namespace
}  // namespace paddle_mini
