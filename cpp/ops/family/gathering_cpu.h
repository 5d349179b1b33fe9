// Kernels of gathering on a CPU.
#pragma once

namespace paddle_mini {
namespace {

void Gathering::check() const {
  for (int64_t i = 0, n = index.numel(); i < n; ++i) {
    if (index[i] < 0 || index[i] >= length) refuse(index[i], i);
  }
}

struct GatherKernel : Kernel {
  const Variable& x;
  Variable& out;
  Gathering gathering;
  size_t bytes;

  explicit GatherKernel(KernelInit& init)
      : x(*init.input("X")), out(*init.output("Out")), gathering(init, x.tensor.shape),
        bytes(static_cast<size_t>(gathering.width) * size_of(x.tensor.dtype)) {}

  void run(KernelContext&) override {
    gathering.check();
    if (bytes == 0) return;
    char* to = static_cast<char*>(out.tensor.data);
    for (int64_t row = 0; row < gathering.rows; ++row) {
      for (int64_t i = 0, n = gathering.index.numel(); i < n; ++i, to += bytes) {
        size_t slab = static_cast<size_t>(row * gathering.length + gathering.index[i]);
        std::memcpy(to, static_cast<const char*>(x.tensor.data) + slab * bytes, bytes);
      }
    }
  }
};

template <class T>
struct PickGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  Gathering gathering;

  explicit PickGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), gathering(init, x_gradient.shape()) {}

  void run(KernelContext&) override {
    gathering.check();
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    const T* from = out_gradient.data();
    for (int64_t row = 0; row < gathering.rows; ++row) {
      for (int64_t i = 0, n = gathering.index.numel(); i < n; ++i, from += gathering.width) {
        T* to = x_gradient.data() + (row * gathering.length + gathering.index[i]) * gathering.width;
        for (int64_t j = 0; j < gathering.width; ++j) to[j] += from[j];
      }
    }
  }
};

}  // namespace
}  // namespace paddle_mini
