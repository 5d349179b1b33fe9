// gather: Out = what X has along an axis at the positions in Index
// The records, which say .on_gpu(), are in ops/family/pick.cc.
#include "ops/family/pick.h"

namespace paddle_mini {

void define_gather(OpTable& ops) { add_pick(ops, "gather", "gather_grad", "axis"); }

}  // namespace paddle_mini
