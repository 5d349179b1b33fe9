// gather_nd: Out = the slabs of X that the coordinates in Index name
#include "core/widening.h"
#include "math/nd_index.h"

#include <algorithm>
#include <cstring>

namespace paddle_mini {
namespace {

#ifdef PM_GPU
struct GatherNdKernel : Kernel {
  const Variable& x;
  Variable& out;
  NdIndex index;

  explicit GatherNdKernel(KernelInit& init)
      : x(*init.input("X")), out(*init.output("Out")), index(init, x.tensor.shape, true) {}

  void refuse(const Fault& fault) const override { index.refuse(fault.value, fault.at); }
  void run(Device& device) override {
    size_t bytes = static_cast<size_t>(index.width) * size_of(x.tensor.dtype);
    gather_slabs(device, index.positions(device), 1, index.slabs, index.length(), bytes, x.tensor.data,
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
    by_slab.sort(device, index.positions(device));
    by_slab.put<ByTarget::Meet::Sum, T>(device, 1, index.length(), index.width, nullptr, out_gradient.data(),
                                        x_gradient.data());
  }
};
#else
struct GatherNdKernel : Kernel {
  const Variable& x;
  Variable& out;
  NdIndex index;
  size_t element, bytes;

  explicit GatherNdKernel(KernelInit& init)
      : x(*init.input("X")), out(*init.output("Out")), index(init, x.tensor.shape, true),
        element(size_of(x.tensor.dtype)), bytes(static_cast<size_t>(index.width) * element) {}

  void run(Device&) override {
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

  void run(Device&) override {
    index.check();
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    const T* from = out_gradient.data();
    for (int64_t i = 0; i < index.slabs; ++i, from += index.width) {
      T* to = x_gradient.data() + index[i];
      for (int64_t j = 0; j < index.width; ++j) to[j] += from[j];
    }
  }
};
#endif

}  // namespace

void define_gather_nd(OpTable& ops) {
  ops.add(OpSpec("gather_nd")
              .doc("The last axis of Index, k long, holds coordinates along X's first k axes; Out = the slabs of X "
                   "that they name. Negative coordinates count from the end; one that X does not have is refused.")
              .input("X", "any shape")
              .input("Index", "[..., k], int32 or int64")
              .output("Out", "Index's dimensions without the last, then X's without the first k")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X").dtype, nd_picked_shape(c, c.shape("X")));
              })
              .gradient("gather_nd_grad", {"X", "Index", "Out@GRAD"}, {"X@GRAD"})
              .checks_data()
              .on_gpu()
              .kernel_for_any<GatherNdKernel>());
  ops.add(also({DType::Bool}, ops.gradient_of("gather_nd")
                                  .doc("X@GRAD = the sum of Out@GRAD over the times each slab was named.")
                                  .reads_shape("X")
                                  .checks_data()
                                  .kernels<GatherNdGradKernel, float, double, int32_t, int64_t>()));
}

}  // namespace paddle_mini
