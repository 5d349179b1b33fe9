// The kernels of scatter on a CPU.
#pragma once

namespace paddle_mini {
namespace {

void ScatterRows::check() const {
  for (int64_t i = 0, n = ids.numel(); i < n; ++i) {
    if (ids[i] < 0 || ids[i] >= height) refuse(ids[i], i);
  }
}

template <class T>
struct ScatterKernel : Kernel {
  In<T> x, updates;
  Out<T> out;
  ScatterRows rows;
  bool overwrite;

  explicit ScatterKernel(KernelInit& init)
      : x(init, "X"), updates(init, "Updates"), out(init, "Out"), rows(init, x.shape()),
        overwrite(init.attr<bool>("overwrite")) {}

  void run(KernelContext&) override {
    rows.check();
    if (out.data() != x.data()) std::copy_n(x.data(), x.numel(), out.data());
    int64_t width = rows.width, n = rows.ids.numel();
    for (int64_t i = 0; i < n; ++i) {
      T* to = out.data() + rows.ids[i] * width;
      if (overwrite) std::copy_n(updates.data() + i * width, width, to);
      else std::fill_n(to, width, T(0));
    }
    for (int64_t i = 0; i < n && !overwrite; ++i) {
      T* to = out.data() + rows.ids[i] * width;
      for (int64_t j = 0; j < width; ++j) to[j] += updates[i * width + j];
    }
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

  void run(KernelContext&) override {
    rows.check();
    int64_t width = rows.width, n = rows.ids.numel();
    if (x_gradient) std::copy_n(out_gradient.data(), out_gradient.numel(), x_gradient.data());
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = rows.ids[i] * width;
      if (x_gradient) std::fill_n(x_gradient.data() + at, width, T(0));
      if (updates_gradient) std::copy_n(out_gradient.data() + at, width, updates_gradient.data() + i * width);
    }
  }
};

}  // namespace
}  // namespace paddle_mini
