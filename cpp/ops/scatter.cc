// scatter: Out = X, with the rows at Ids computed from Updates
#include "ops/family/slabs.h"

namespace paddle_mini {
namespace {

struct ScatterRows : AxisSlabs {
  static constexpr const char* kUpdates = "Updates";
  ScatterRows(const KernelInit& init, const Shape& x) : AxisSlabs(init, "Ids", x, 0, false) {}

  void refuse(int64_t value, int64_t at) const {
    fail<OpError>("Ids has ", value, " at position ", at, ": X has ", length, " rows, so an id must be from 0 to ",
                  length - 1);
  }
};

template <class T>
struct ScatterKernel : Kernel {
  In<T> x, updates;
  Out<T> out;
  ScatterRows rows;
  bool overwrite;
  SegmentedScatter by_row;

  explicit ScatterKernel(KernelInit& init)
      : x(init, "X"), updates(init, "Updates"), out(init, "Out"), rows(init, x.shape()),
        overwrite(init.attr<bool>("overwrite")), by_row(init, rows.picked) {}

  void refuse(const Fault& fault) const override { rows.refuse(fault.value, fault.at); }
  void run(KernelContext& context) override;
};

// Ids is [n], or [n, 1] in older programs, with Updates [n, ...]; or Ids is [] and Updates is one row.
void scatter_check_updates(const InferContext& c, const char* x_port) {
  require_tensors(c);
  require_index(c, "Ids");
  require_same_dtype(c, x_port, "Updates");
  const Shape &x = c.shape(x_port), &ids = c.shape("Ids"), &updates = c.shape("Updates");
  require<ShapeError>(x.rank() > 0, x_port, " has no dimensions, so it has no rows");
  bool list = ids.rank() <= 1 || (ids.rank() == 2 && dims_agree(ids[1], 1));
  require<ShapeError>(list, "Ids has shape ", ids.str(), ", it must have one dimension");
  Shape wanted;
  if (ids.rank() > 0) wanted.push_back(ids[0]);
  for (int i = 1; i < x.rank(); ++i) wanted.push_back(x[i]);
  require<ShapeError>(shapes_agree(wanted, updates), "Updates has shape ", updates.str(), ", the rows that Ids names ",
                      "have ", wanted.str());
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(scatter)

namespace paddle_mini {

void define_scatter(OpTable& ops) {
  ops.add(OpSchema("scatter")
              .doc("Out = X with the rows that Ids names replaced by Updates. With overwrite, the last of several "
                   "updates of one row is written; without it their sum, which also replaces X's own row. An id out of "
                   "range is an error.")
              .input("X", "[rows, ...]")
              .input("Ids", "[n], [n, 1] or one number, int32 or int64")
              .input("Updates", "[n, ...]: a row for each of Ids")
              .output("Out", "shape of X")
              .attr("overwrite", true, "whether the last update of a row is written; otherwise the sum of all")
              .infer([](InferContext& c) {
                scatter_check_updates(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient("scatter_grad", {"Ids", "Updates", "Out@GRAD"}, {"X@GRAD", "Updates@GRAD"})
              .in_place("X", "Out")
              .checks_data("Ids")
              .on_gpu()
              .kernels<ScatterKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("scatter")
              .doc("X@GRAD = Out@GRAD, with 0 in the rows that Ids names; Updates@GRAD = these rows of Out@GRAD, also "
                   "for an update that another one overwrote, as in PaddlePaddle.")
              .shape_only("Updates")
              .attr("overwrite", true, "not read: the gradient is the same")
              .infer([](InferContext& c) {
                scatter_check_updates(c, "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out@GRAD"));
                c.set_output("Updates@GRAD", c.input("Updates"));
              })
              .checks_data("Ids")
              .dtype_from_input("Out@GRAD")
              .kernels<SlabUpdatesGradKernel<ScatterRows, true>::For, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
