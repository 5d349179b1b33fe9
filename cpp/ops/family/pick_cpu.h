// The kernels of pick on a CPU.
#pragma once

namespace paddle_mini {
namespace {

void Picking::check() const {
  for (int64_t i = 0, n = index.numel(); i < n; ++i) {
    if (index[i] < 0 || index[i] >= length) refuse(index[i], i);
  }
}

struct PickKernel : Kernel {
  const Variable& x;
  Variable& out;
  Picking pick;
  size_t bytes;

  explicit PickKernel(KernelInit& init)
      : x(*init.input("X")), out(*init.output("Out")), pick(init, x.tensor.shape),
        bytes(static_cast<size_t>(pick.width) * size_of(x.tensor.dtype)) {}

  void run(Device&) override {
    pick.check();
    if (bytes == 0) return;
    char* to = static_cast<char*>(out.tensor.data);
    for (int64_t row = 0; row < pick.rows; ++row) {
      for (int64_t i = 0, n = pick.index.numel(); i < n; ++i, to += bytes) {
        size_t slab = static_cast<size_t>(row * pick.length + pick.index[i]);
        std::memcpy(to, static_cast<const char*>(x.tensor.data) + slab * bytes, bytes);
      }
    }
  }
};

template <class T>
struct PickGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  Picking pick;

  explicit PickGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), pick(init, x_gradient.shape()) {}

  void run(Device&) override {
    pick.check();
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    const T* from = out_gradient.data();
    for (int64_t row = 0; row < pick.rows; ++row) {
      for (int64_t i = 0, n = pick.index.numel(); i < n; ++i, from += pick.width) {
        T* to = x_gradient.data() + (row * pick.length + pick.index[i]) * pick.width;
        for (int64_t j = 0; j < pick.width; ++j) to[j] += from[j];
      }
    }
  }
};

}  // namespace
}  // namespace paddle_mini
