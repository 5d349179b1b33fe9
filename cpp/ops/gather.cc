// gather: Out = the slices of X along an axis at the indices in Index
// The schemas, with .on_gpu(), are in ops/family/gathering.cc.
#include "ops/family/gathering.h"

namespace paddle_mini {

void define_gather(OpTable& ops) { add_pick(ops, "gather", "gather_grad", "axis"); }

}  // namespace paddle_mini
