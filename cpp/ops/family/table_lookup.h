// Lookup of a table's rows by ids, and the table's gradient, for both lookup_table operators.
#pragma once

#include "core/op_table.h"
#include "core/second_gradient.h"
#include "core/widening.h"
#include "math/copy.h"

namespace paddle_mini {

[[noreturn]] inline void refuse_id(int64_t id, int64_t position, int64_t height) {
  fail<OpError>("id ", id, " at position ", position, " of Ids is out of range: the table W has ", height,
                " rows, so an id must be from 0 to ", height - 1);
}

inline int64_t row_width(const Shape& table) { return table.numel(1, table.rank()); }

// Out = the rows of W at Ids, zeros for padding_idx.
template <class T>
struct TableLookupKernel : Kernel {
  In<T> table;
  IndexIn ids;
  Out<T> out;
  int64_t padding, width;

  explicit TableLookupKernel(KernelInit& init)
      : table(init, "W"), ids(init, "Ids"), out(init, "Out"), padding(init.attr<int64_t>("padding_idx")),
        width(row_width(table.shape())) {}

  void refuse(const Fault& fault) const override { refuse_id(fault.value, fault.at, table.shape()[0]); }

  void run(KernelContext& context) override;
};

// The gradient of a row is the sum of Out@GRAD over the positions with its id. Sparse: the gradients of all positions
// unmerged, one row each, in the order of Ids. As in PaddlePaddle this includes the padding row, so it is trained.
template <class T>
struct TableLookupGradKernel : Kernel {
  IndexIn ids;
  In<T> out_gradient;
  Out<T> table_gradient;
  int64_t padding, height, width;
  bool sparse;
  std::vector<int64_t> touched;
  Scratch<int64_t> order;  // sort buffer for positions, on a GPU

  explicit TableLookupGradKernel(KernelInit& init)
      : ids(init, "Ids"), out_gradient(init, "Out@GRAD"), table_gradient(init, "W@GRAD"),
        padding(init.attr<int64_t>("padding_idx")), height(init.input("W")->tensor.shape[0]),
        width(row_width(init.input("W")->tensor.shape)), sparse(init.attr<bool>("is_sparse")),
        touched(sparse ? static_cast<size_t>(ids.numel()) : 0), order(init, kOnGpu ? 4 * ids.numel() : 0) {
    require<DeviceError>(!kOnGpu || !sparse, "W@GRAD is selected rows, for which GPUs have no kernel");
  }

  void refuse(const Fault& fault) const override { refuse_id(fault.value, fault.at, height); }

  void run(KernelContext& context) override;
  // On a CPU:
  void keep_rows(KernelContext& context);
  void sum_rows(KernelContext& context);
};

// The differences between the two operators.
struct TableLookup {
  std::string type;
  const char *formula, *table, *ids, *out;  // for the docs
  Shape (*shape)(const InferContext& c);    // Out's shape
};

inline void infer_table_gradient(InferContext& c, const TableLookup& lookup) {
  Shape out = lookup.shape(c);
  require_same_dtype(c, "W", "Out@GRAD");
  require<ShapeError>(shapes_agree(c.shape("Out@GRAD"), out), "Out@GRAD has shape ", c.shape("Out@GRAD").str(),
                      ", W looked up by Ids has ", out.str());
  VarInfo info = c.input("W");
  if (c.attr<bool>("is_sparse")) {
    info.kind = VarKind::SelectedRows;
    info.row_count = c.shape("Ids").numel(0, c.shape("Ids").rank());
  }
  c.set_output("W@GRAD", info);
}

inline void define_table_lookup(OpTable& ops, const TableLookup& lookup) {
  ops.add(also(
      {DType::Int8, DType::Int16},
      OpSchema(lookup.type)
          .doc(std::string(lookup.formula) + "; zeros where the id is padding_idx. An id out of range is an error.")
          .input("W", lookup.table)
          .input("Ids", lookup.ids)
          .output("Out", lookup.out)
          .attr("padding_idx", int64_t{-1}, "the id for which Out is zeros; -1: none", at_least(-1))
          .attr("is_sparse", false, "whether the gradient of W is selected rows")
          .infer([lookup](InferContext& c) { c.set_output("Out", c.input("W").dtype, lookup.shape(c)); })
          .gradient(lookup.type + "_grad", {"W", "Ids", "Out@GRAD"}, {"W@GRAD"})
          .checks_data("Ids")
          .on_gpu()
          .kernels<TableLookupKernel, float, double>()));
  ops.add(
      linear_gradient_of(ops, lookup.type)
          .doc("W@GRAD[r] = the sum of Out@GRAD where Ids is r; 0 for padding_idx. With is_sparse it is selected rows "
               "with the rows Ids and the values Out@GRAD; duplicates are not merged, and padding_idx is included.")
          .shape_only("W")
          .output("W@GRAD", "shape of W; a tensor, or selected rows with one row for each element of Ids")
          .infer([lookup](InferContext& c) { infer_table_gradient(c, lookup); })
          .checks_data("Ids")
          .kernels<TableLookupGradKernel, float, double>());
}

}  // namespace paddle_mini

#include PM_FAMILY(table_lookup)
