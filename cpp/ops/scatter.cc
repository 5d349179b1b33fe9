// scatter: Out = X, with the rows that Ids names made of Updates
#include "core/op_table.h"

#include <algorithm>

#ifdef PM_GPU
#include "math/by_target_gpu.h"
#include "math/positions_gpu.h"
#endif

namespace paddle_mini {
namespace {

struct ScatterRows {
  IndexIn ids;
  int64_t height, width;

  ScatterRows(const KernelInit& init, const Shape& x) : ids(init, "Ids"), height(x[0]), width(x.numel(1, x.rank())) {}

  void refuse(int64_t value, int64_t at) const {
    fail<OpError>("Ids has ", value, " at position ", at, ": X has ", height, " rows, so they run from 0 to ",
                  height - 1);
  }
#ifdef PM_GPU
  Positions positions(const Device& device) const { return {device, ids, height, false}; }
#else
  void check() const {
    for (int64_t i = 0, n = ids.numel(); i < n; ++i) {
      if (ids[i] < 0 || ids[i] >= height) refuse(ids[i], i);
    }
  }
#endif
};

#ifdef PM_GPU
template <class T>
struct ScatterKernel : Kernel {
  using Meet = ByTarget::Meet;
  In<T> x, updates;
  Out<T> out;
  ScatterRows rows;
  bool overwrite;
  ByTarget by_row;

  explicit ScatterKernel(KernelInit& init)
      : x(init, "X"), updates(init, "Updates"), out(init, "Out"), rows(init, x.shape()),
        overwrite(init.attr<bool>("overwrite")), by_row(init, rows.ids.numel()) {}

  void refuse(const Fault& fault) const override { rows.refuse(fault.value, fault.at); }
  void run(Device& device) override {
    by_row.sort(device, rows.positions(device));
    if (overwrite) put<Meet::Last>(device);
    else put<Meet::SumInstead>(device);
  }
  template <Meet meet>
  void put(Device& device) {
    by_row.put<meet>(device, 1, rows.height, rows.width, x.data(), updates.data(), out.data());
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
  void run(Device& device) override {
    Positions at = rows.positions(device);
    int64_t n = rows.ids.numel();
    if (x_gradient) {
      copy_n(device, out_gradient.data(), out_gradient.numel(), x_gradient.data());
      zero_slabs(device, at, n, rows.width, x_gradient.data());
    }
    if (!updates_gradient) return;
    size_t bytes = static_cast<size_t>(rows.width) * sizeof(T);
    gather_slabs(device, at, 1, n, rows.height, bytes, out_gradient.data(), updates_gradient.data());
  }
};
#else
template <class T>
struct ScatterKernel : Kernel {
  In<T> x, updates;
  Out<T> out;
  ScatterRows rows;
  bool overwrite;

  explicit ScatterKernel(KernelInit& init)
      : x(init, "X"), updates(init, "Updates"), out(init, "Out"), rows(init, x.shape()),
        overwrite(init.attr<bool>("overwrite")) {}

  void run(Device&) override {
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

  void run(Device&) override {
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
#endif

// Ids [n], or [n, 1] as older programs write it, with Updates [n, ...]; or Ids [] with Updates of one row.
void scatter_check_updates(const InferContext& c, const char* x_port) {
  require_tensors(c);
  require_index(c, "Ids");
  require_same_dtype(c, x_port, "Updates");
  const Shape &x = c.shape(x_port), &ids = c.shape("Ids"), &updates = c.shape("Updates");
  require<ShapeError>(x.rank() > 0, x_port, " has no dimensions: there are no rows");
  bool list = ids.rank() <= 1 || (ids.rank() == 2 && dims_agree(ids[1], 1));
  require<ShapeError>(list, "Ids has shape ", ids.str(), ", one dimension is needed");
  Shape wanted;
  if (ids.rank() > 0) wanted.push_back(ids[0]);
  for (int i = 1; i < x.rank(); ++i) wanted.push_back(x[i]);
  require<ShapeError>(shapes_agree(wanted, updates), "Updates has shape ", updates.str(), ", the rows that Ids names ",
                      "have ", wanted.str());
}

}  // namespace

void define_scatter(OpTable& ops) {
  ops.add(OpSpec("scatter")
              .doc("Out = X, with Updates in place of the rows that Ids names. With overwrite, of several updates of "
                   "one row the last stays; without, their sum does, and X's own row is gone all the same. A row that "
                   "X does not have is refused.")
              .input("X", "[rows, ...]")
              .input("Ids", "[n], [n, 1] or one number, int32 or int64")
              .input("Updates", "[n, ...]: a row for each of Ids")
              .output("Out", "shape of X")
              .attr("overwrite", true, "whether the last update of a row stays, or else the sum of all")
              .infer([](InferContext& c) {
                scatter_check_updates(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient("scatter_grad", {"Ids", "Updates", "Out@GRAD"}, {"X@GRAD", "Updates@GRAD"})
              .in_place("X", "Out")
              .checks_data()
              .on_gpu()
              .kernels<ScatterKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("scatter")
              .doc("X@GRAD = Out@GRAD, with 0 in the rows that Ids names; Updates@GRAD = those rows of Out@GRAD, also "
                   "for an update that another one overwrote, as in PaddlePaddle.")
              .reads_shape("Updates")
              .attr("overwrite", true, "not read: the gradient is the same")
              .infer([](InferContext& c) {
                scatter_check_updates(c, "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out@GRAD"));
                c.set_output("Updates@GRAD", c.input("Updates"));
              })
              .checks_data()
              .dtype_from_input("Out@GRAD")
              .kernels<ScatterGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
