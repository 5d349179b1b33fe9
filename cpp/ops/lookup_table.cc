// lookup_table: Out[i..., :] = W[Ids[i..., 0]]
#include "ops/family/table_lookup.h"

namespace paddle_mini {
namespace {

// Unlike in lookup_table_v2, the row replaces the last dimension of Ids, which is 1.
Shape lookup_table_shape(const InferContext& c) {
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

}  // namespace

// The schemas, with .on_gpu(), and the kernels are in ops/family/table_lookup.h.
void define_lookup_table(OpTable& ops) {
  define_table_lookup(ops, {"lookup_table", "Out[i..., :] = W[Ids[i..., 0]]", "[height, width]: the table",
                            "[..., 1], int32 or int64", "[..., width]", &lookup_table_shape});
}

}  // namespace paddle_mini
