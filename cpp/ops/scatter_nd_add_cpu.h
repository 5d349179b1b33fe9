// The kernels of scatter_nd_add on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
struct ScatterNdAddKernel : Kernel {
  In<T> x, updates;
  Out<T> out;
  NdIndex index;

  explicit ScatterNdAddKernel(KernelInit& init)
      : x(init, "X"), updates(init, "Updates"), out(init, "Out"), index(init, x.shape(), false) {}

  void run(KernelContext&) override {
    index.check();
    if (out.data() != x.data()) std::copy_n(x.data(), x.numel(), out.data());
    const T* from = updates.data();
    for (int64_t i = 0; i < index.slabs; ++i, from += index.width) {
      T* to = out.data() + index[i];
      for (int64_t j = 0; j < index.width; ++j) to[j] = static_cast<T>(to[j] + from[j]);
    }
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

  void run(KernelContext&) override {
    index.check();
    if (x_gradient) std::copy_n(out_gradient.data(), out_gradient.numel(), x_gradient.data());
    if (!updates_gradient) return;
    T* to = updates_gradient.data();
    for (int64_t i = 0; i < index.slabs; ++i, to += index.width) {
      std::copy_n(out_gradient.data() + index[i], index.width, to);
    }
  }
};

}  // namespace
}  // namespace paddle_mini
