// index_add: Out = X, with AddValue added along an axis at the positions in Index
#include "core/op_table.h"

#include <algorithm>

#ifdef PM_GPU
#include "math/by_target_gpu.h"
#include "math/positions_gpu.h"
#endif

namespace paddle_mini {
namespace {

// X as [outer, length, width] around the axis.
struct AddedSlabs {
  IndexIn index;
  int64_t outer, length, width;

  AddedSlabs(const KernelInit& init, const Shape& x) : index(init, "Index") {
    int axis = normal_axis(init.attr<int32_t>("axis"), x.rank(), "axis");
    outer = x.numel(0, axis), length = x[axis], width = x.numel(axis + 1, x.rank());
  }

  void refuse(int64_t value, int64_t at) const {
    fail<OpError>("Index has ", value, " at position ", at, ": X has ", length,
                  " along the axis, so positions run "
                  "from ",
                  -length, " to ", length - 1);
  }
#ifdef PM_GPU
  Positions positions(const Device& device) const { return {device, index, length, true}; }
#else
  void check() const {
    for (int64_t i = 0, n = index.numel(); i < n; ++i) {
      if (index[i] < -length || index[i] >= length) refuse(index[i], i);
    }
  }

  // f(where a slab of AddValue begins, where that of X does)
  template <class F>
  void each(F f) const {
    int64_t n = index.numel();
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < n; ++i) {
        int64_t at = index[i] < 0 ? index[i] + length : index[i];
        f((o * n + i) * width, (o * length + at) * width);
      }
    }
  }
#endif
};

#ifdef PM_GPU
template <class T>
struct IndexAddKernel : Kernel {
  In<T> x, added;
  Out<T> out;
  AddedSlabs slabs;
  ByTarget by_position;

  explicit IndexAddKernel(KernelInit& init)
      : x(init, "X"), added(init, "AddValue"), out(init, "Out"), slabs(init, x.shape()),
        by_position(init, slabs.index.numel()) {}

  void refuse(const Fault& fault) const override { slabs.refuse(fault.value, fault.at); }
  void run(Device& device) override {
    by_position.sort(device, slabs.positions(device));
    by_position.put<ByTarget::Meet::AddTo>(device, slabs.outer, slabs.length, slabs.width, x.data(), added.data(),
                                           out.data());
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
  void run(Device& device) override {
    if (x_gradient) copy_n(device, out_gradient.data(), out_gradient.numel(), x_gradient.data());
    if (!added_gradient) return;
    size_t bytes = static_cast<size_t>(slabs.width) * sizeof(T);
    gather_slabs(device, slabs.positions(device), slabs.outer, slabs.index.numel(), slabs.length, bytes,
                 out_gradient.data(), added_gradient.data());
  }
};
#else
template <class T>
struct IndexAddKernel : Kernel {
  In<T> x, added;
  Out<T> out;
  AddedSlabs slabs;

  explicit IndexAddKernel(KernelInit& init)
      : x(init, "X"), added(init, "AddValue"), out(init, "Out"), slabs(init, x.shape()) {}

  void run(Device&) override {
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

  void run(Device&) override {
    slabs.check();
    if (x_gradient) std::copy_n(out_gradient.data(), out_gradient.numel(), x_gradient.data());
    if (!added_gradient) return;
    slabs.each([this](int64_t to, int64_t from) {
      std::copy_n(out_gradient.data() + from, slabs.width, added_gradient.data() + to);
    });
  }
};
#endif

// X, or Out@GRAD, and AddValue must fit together.
void check_added(const InferContext& c, const char* x_port) {
  require_tensors(c);
  require_index(c, "Index");
  require_rank(c, "Index", 1);
  require_same_dtype(c, x_port, "AddValue");
  Shape wanted = c.shape(x_port);
  wanted[normal_axis(c.attr<int32_t>("axis"), wanted.rank(), "axis")] = c.shape("Index")[0];
  require<ShapeError>(shapes_agree(wanted, c.shape("AddValue")), "AddValue has shape ", c.shape("AddValue").str(),
                      ", Index names ", wanted.str());
}

}  // namespace

void define_index_add(OpTable& ops) {
  ops.add(OpSpec("index_add")
              .doc("Out = X, with AddValue added along the axis at the positions in Index, as often as they are named. "
                   "Negative positions count from the end; one that X does not have is refused.")
              .input("X", "at least one dimension")
              .input("Index", "[n], int32 or int64")
              .input("AddValue", "shape of X with n elements along the axis")
              .output("Out", "shape of X")
              .attr("axis", 0, "the axis; negative ones count from the end")
              .infer([](InferContext& c) {
                check_added(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient("index_add_grad", {"Index", "AddValue", "Out@GRAD"}, {"X@GRAD", "AddValue@GRAD"})
              .in_place("X", "Out")
              .checks_data()
              .on_gpu()
              .kernels<IndexAddKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("index_add")
              .doc("X@GRAD = Out@GRAD; AddValue@GRAD = what Out@GRAD has at the positions in Index.")
              .reads_shape("AddValue")
              .infer([](InferContext& c) {
                check_added(c, "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out@GRAD"));
                c.set_output("AddValue@GRAD", c.input("AddValue"));
              })
              .checks_data()
              .dtype_from_input("Out@GRAD")
              .kernels<IndexAddGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
