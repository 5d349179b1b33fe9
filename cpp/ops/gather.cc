// gather: Out = what X has along an axis at the positions in Index
// The schemas, which say .on_gpu(), are in ops/family/gathering.cc.
#include "ops/family/gathering.h"

namespace paddle_mini {

void define_gather(OpTable& ops) { add_pick(ops, "gather", "gather_grad", "axis"); }

}  // namespace paddle_mini
