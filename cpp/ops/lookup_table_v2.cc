// lookup_table_v2: Out[i...] = W[Ids[i...]]
#include "ops/family/table_lookup.h"

namespace paddle_mini {
namespace {

Shape lookup_table_v2_shape(const InferContext& c) {
  require_index(c, "Ids");
  const Shape& table = c.shape("W");
  require<ShapeError>(table.rank() >= 2, "W has shape ", table.str(), ", a table must have at least 2 dimensions");
  Shape out = c.shape("Ids");
  for (int i = 1; i < table.rank(); ++i) out.push_back(table[i]);
  return out;
}

}  // namespace

// The schemas, with .on_gpu(), and the kernels are in ops/family/table_lookup.h.
void define_lookup_table_v2(OpTable& ops) {
  define_table_lookup(ops, {"lookup_table_v2", "Out[i...] = W[Ids[i...]]", "[height, ...]: the table",
                            "any shape, int32 or int64", "shape of Ids, then W's axes after the first",
                            &lookup_table_v2_shape});
}

}  // namespace paddle_mini
