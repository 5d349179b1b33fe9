// index_select: Out = what X has along an axis at the positions in Index
// The records, which say .on_gpu(), are in math/pick.cc.
#include "math/pick.h"

namespace paddle_mini {

void define_index_select(OpTable& ops) { add_pick(ops, "index_select", "index_select_grad", "dim"); }

}  // namespace paddle_mini
