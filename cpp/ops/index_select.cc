// index_select: Out = the slices of X along an axis at the indices in Index
// The schemas, with .on_gpu(), are in ops/family/gathering.cc.
#include "ops/family/gathering.h"

namespace paddle_mini {

void define_index_select(OpTable& ops) { add_pick(ops, "index_select", "index_select_grad", "dim"); }

}  // namespace paddle_mini
