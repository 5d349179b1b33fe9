// lookup_table: Out[i..., :] = W[Ids[i..., 0]]
#include "math/table_lookup.h"

namespace paddle_mini {
namespace {

// Unlike lookup_table_v2, the row takes the place of Ids' last dimension, which is 1.
Shape looked_up_shape(const InferContext& c) {
  require_tensors(c);
  require_index(c, "Ids");
  require_rank(c, "W", 2);
  const Shape& ids = c.shape("Ids");
  require<ShapeError>(ids.rank() > 0 && dims_agree(ids[ids.rank() - 1], 1), "Ids has shape ", ids.str(),
                      ", its last dimension must be 1");
  Shape out = ids;
  out[ids.rank() - 1] = c.shape("W")[1];
  return out;
}

void infer_gradient(InferContext& c) {
  Shape out = looked_up_shape(c);
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

}  // namespace

void define_lookup_table(OpTable& ops) {
  ops.add(OpSpec("lookup_table")
              .doc("Out[i..., :] = W[Ids[i..., 0]]; zeros where the id is padding_idx. An id outside of the table is "
                   "refused.")
              .input("W", "[height, width]: the table")
              .input("Ids", "[..., 1], int32 or int64")
              .output("Out", "[..., width]")
              .attr("padding_idx", int64_t{-1}, "the id that gives zeros; -1: none", at_least(-1))
              .attr("is_sparse", false, "whether the gradient of W is selected rows")
              .infer([](InferContext& c) { c.set_output("Out", c.input("W").dtype, looked_up_shape(c)); })
              .gradient("lookup_table_grad", {"W", "Ids", "Out@GRAD"}, {"W@GRAD"})
              .checks_data()
              .kernels<TableLookupKernel, float, double>());
  ops.add(OpSpec("lookup_table_grad")
              .doc("W@GRAD[r] = sum of Out@GRAD where Ids is r; 0 for padding_idx. With is_sparse, selected rows: "
                   "Out@GRAD as it is for the rows Ids, unmerged, padding_idx too.")
              .input("W", "as in lookup_table; its values are not read")
              .input("Ids", "as in lookup_table")
              .input("Out@GRAD", "shape of Out")
              .output("W@GRAD", "shape of W; a tensor, or selected rows of as many rows as Ids has elements")
              .attr("padding_idx", int64_t{-1}, "as in lookup_table", at_least(-1))
              .attr("is_sparse", false, "whether W@GRAD is selected rows")
              .infer(infer_gradient)
              .checks_data()
              .kernels<TableLookupGradKernel, float, double>());
}

}  // namespace paddle_mini
