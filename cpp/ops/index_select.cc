// index_select: Out = what X has along an axis at the positions in Index
// The records, which say .on_gpu(), are in ops/family/pick.cc.
#include "ops/family/pick.h"

namespace paddle_mini {

void define_index_select(OpTable& ops) { add_pick(ops, "index_select", "index_select_grad", "dim"); }

}  // namespace paddle_mini
