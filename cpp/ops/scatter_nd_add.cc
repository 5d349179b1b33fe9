// scatter_nd_add: Out = X, with Updates added to the slabs that the coordinates in Index name
#include "math/nd_index.h"

#include <algorithm>

namespace paddle_mini {
namespace {

#ifdef PM_GPU
template <class T>
struct ScatterNdAddKernel : Kernel {
  In<T> x, updates;
  Out<T> out;
  NdIndex index;
  ByTarget by_slab;

  explicit ScatterNdAddKernel(KernelInit& init)
      : x(init, "X"), updates(init, "Updates"), out(init, "Out"), index(init, x.shape(), false),
        by_slab(init, index.slabs) {}

  void refuse(const Fault& fault) const override { index.refuse(fault.value, fault.at); }
  void run(Device& device) override {
    by_slab.sort(device, index.positions(device));
    by_slab.put<ByTarget::Meet::AddTo>(device, 1, index.length(), index.width, x.data(), updates.data(), out.data());
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
  void run(Device& device) override {
    if (x_gradient) copy_n(device, out_gradient.data(), out_gradient.numel(), x_gradient.data());
    if (!updates_gradient) return;
    size_t bytes = static_cast<size_t>(index.width) * sizeof(T);
    gather_slabs(device, index.positions(device), 1, index.slabs, index.length(), bytes, out_gradient.data(),
                 updates_gradient.data());
  }
};
#else
template <class T>
struct ScatterNdAddKernel : Kernel {
  In<T> x, updates;
  Out<T> out;
  NdIndex index;

  explicit ScatterNdAddKernel(KernelInit& init)
      : x(init, "X"), updates(init, "Updates"), out(init, "Out"), index(init, x.shape(), false) {}

  void run(Device&) override {
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

  void run(Device&) override {
    index.check();
    if (x_gradient) std::copy_n(out_gradient.data(), out_gradient.numel(), x_gradient.data());
    if (!updates_gradient) return;
    T* to = updates_gradient.data();
    for (int64_t i = 0; i < index.slabs; ++i, to += index.width) {
      std::copy_n(out_gradient.data() + index[i], index.width, to);
    }
  }
};
#endif

// X, or Out@GRAD, and Updates must fit together.
void nd_add_check_updates(const InferContext& c, const char* x) {
  require_tensors(c);
  require_index(c, "Index");
  require_same_dtype(c, x, "Updates");
  const Shape &index = c.shape("Index"), &updates = c.shape("Updates");
  if (index.rank() > 0 && index[index.rank() - 1] < 0) return;
  Shape wanted = nd_picked_shape(c, c.shape(x));
  require<ShapeError>(same_shape(wanted, updates), "Updates has shape ", updates.str(), ", Index names ", wanted.str());
}

}  // namespace

void define_scatter_nd_add(OpTable& ops) {
  ops.add(OpSpec("scatter_nd_add")
              .doc("The last axis of Index, k long, holds coordinates along X's first k axes; Out = X, with Updates "
                   "added to the slabs that they name, as often as they are named. A coordinate that X does not have, "
                   "and a negative one, is refused.")
              .input("X", "any shape")
              .input("Index", "[..., k], int32 or int64")
              .input("Updates", "Index's dimensions without the last, then X's without the first k")
              .output("Out", "shape of X")
              .infer([](InferContext& c) {
                nd_add_check_updates(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient("scatter_nd_add_grad", {"Index", "Updates", "Out@GRAD"}, {"X@GRAD", "Updates@GRAD"})
              .in_place("X", "Out")
              .checks_data()
              .on_gpu()
              .kernels<ScatterNdAddKernel, float, double, int32_t, int64_t, uint8_t>());
  ops.add(ops.gradient_of("scatter_nd_add")
              .doc("X@GRAD = Out@GRAD; Updates@GRAD = the slabs of Out@GRAD that Index names.")
              .reads_shape("Updates")
              .infer([](InferContext& c) {
                nd_add_check_updates(c, "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out@GRAD"));
                c.set_output("Updates@GRAD", c.input("Updates"));
              })
              .checks_data()
              .dtype_from_input("Out@GRAD")
              .kernels<ScatterNdAddGradKernel, float, double, int32_t, int64_t, uint8_t>());
}

}  // namespace paddle_mini
