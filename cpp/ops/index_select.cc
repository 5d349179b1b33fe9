// index_select: Out = what X has along an axis at the positions in Index
// The schemas, which say .on_gpu(), are in ops/family/gathering.cc.
#include "ops/family/gathering.h"

namespace paddle_mini {

void define_index_select(OpTable& ops) { add_pick(ops, "index_select", "index_select_grad", "dim"); }

}  // namespace paddle_mini
