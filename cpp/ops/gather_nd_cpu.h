// CPU kernels of gather_nd.
#pragma once

namespace paddle_mini {
namespace {

struct GatherNdKernel : Kernel {
  const Variable& x;
  Variable& out;
  NdIndex index;
  size_t element, bytes;

  explicit GatherNdKernel(KernelInit& init)
      : x(*init.input("X")), out(*init.output("Out")), index(init, x.tensor.shape, true),
        element(size_of(x.tensor.dtype)), bytes(static_cast<size_t>(index.width) * element) {}

  void run(KernelContext&) override {
    index.check();
    if (bytes == 0) return;
    char* to = static_cast<char*>(out.tensor.data);
    for (int64_t i = 0; i < index.slabs; ++i, to += bytes) {
      std::memcpy(to, static_cast<const char*>(x.tensor.data) + static_cast<size_t>(index[i]) * element, bytes);
    }
  }
};

template <class T>
struct GatherNdGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  NdIndex index;

  explicit GatherNdGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), index(init, x_gradient.shape(), true) {}

  void run(KernelContext&) override {
    index.check();
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    const T* from = out_gradient.data();
    for (int64_t i = 0; i < index.slabs; ++i, from += index.width) {
      T* to = x_gradient.data() + index[i];
      for (int64_t j = 0; j < index.width; ++j) to[j] += from[j];
    }
  }
};

}  // namespace
}  // namespace paddle_mini
