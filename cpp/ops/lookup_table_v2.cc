// lookup_table_v2: Out[i...] = W[Ids[i...]]
#include "math/table_lookup.h"

namespace paddle_mini {
namespace {

Shape looked_up_shape(const InferContext& c) {
  require_index(c, "Ids");
  const Shape& table = c.shape("W");
  require<ShapeError>(table.rank() >= 2, "W has shape ", table.str(), ", a table has at least 2 dimensions");
  Shape out = c.shape("Ids");
  for (int i = 1; i < table.rank(); ++i) out.push_back(table[i]);
  return out;
}

void infer_lookup_table_grad(InferContext& c) {
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

void define_lookup_table_v2(OpTable& ops) {
  ops.add(OpSpec("lookup_table_v2")
              .doc("Out[i...] = W[Ids[i...]]; zeros where the id is padding_idx. An id outside of the table is "
                   "refused.")
              .input("W", "[height, ...]: the table")
              .input("Ids", "any shape, int32 or int64")
              .output("Out", "shape of Ids, then W's axes after the first")
              .attr("padding_idx", int64_t{-1}, "the id that gives zeros; -1: none", at_least(-1))
              .attr("is_sparse", false, "whether the gradient of W is selected rows")
              .infer([](InferContext& c) { c.set_output("Out", c.input("W").dtype, looked_up_shape(c)); })
              .gradient("lookup_table_v2_grad", {"W", "Ids", "Out@GRAD"}, {"W@GRAD"})
              .checks_data()
              .kernels<TableLookupKernel, float, double>());
  ops.add(OpSpec("lookup_table_v2_grad")
              .doc("W@GRAD[r] = sum of Out@GRAD where Ids is r; 0 for padding_idx. With is_sparse, selected rows: "
                   "Out@GRAD as it is for the rows Ids, unmerged, padding_idx too.")
              .input("W", "as in lookup_table_v2; its values are not read")
              .input("Ids", "as in lookup_table_v2")
              .input("Out@GRAD", "shape of Out")
              .output("W@GRAD", "shape of W; a tensor, or selected rows of as many rows as Ids has elements")
              .attr("padding_idx", int64_t{-1}, "as in lookup_table_v2", at_least(-1))
              .attr("is_sparse", false, "whether W@GRAD is selected rows")
              .infer(infer_lookup_table_grad)
              .checks_data()
              .kernels<TableLookupGradKernel, float, double>());
}

}  // namespace paddle_mini
