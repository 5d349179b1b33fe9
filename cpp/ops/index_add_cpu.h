// CPU kernels of index_add.
#pragma once

namespace paddle_mini {
namespace {

void AddedSlabs::check() const {
  for (int64_t i = 0, n = index.numel(); i < n; ++i) {
    if (index[i] < -length || index[i] >= length) refuse(index[i], i);
  }
}

// Calls f(offset of a slab of AddValue, offset of its slab of X) for each slab.
template <class F>
void AddedSlabs::each(F f) const {
  int64_t n = index.numel();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = index[i] < 0 ? index[i] + length : index[i];
      f((o * n + i) * width, (o * length + at) * width);
    }
  }
}

template <class T>
struct IndexAddKernel : Kernel {
  In<T> x, added;
  Out<T> out;
  AddedSlabs slabs;

  explicit IndexAddKernel(KernelInit& init)
      : x(init, "X"), added(init, "AddValue"), out(init, "Out"), slabs(init, x.shape()) {}

  void run(KernelContext&) override {
    slabs.check();
    if (out.data() != x.data()) std::copy_n(x.data(), x.numel(), out.data());
    slabs.each([this](int64_t from, int64_t to) {
      for (int64_t j = 0; j < slabs.width; ++j) out[to + j] += added[from + j];
    });
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

  void run(KernelContext&) override {
    slabs.check();
    if (x_gradient) std::copy_n(out_gradient.data(), out_gradient.numel(), x_gradient.data());
    if (!added_gradient) return;
    slabs.each([this](int64_t to, int64_t from) {
      std::copy_n(out_gradient.data() + from, slabs.width, added_gradient.data() + to);
    });
  }
};

}  // namespace
}  // namespace paddle_mini
