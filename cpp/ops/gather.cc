// gather: Out = what X has along an axis at the positions in Index
// The records, which say .on_gpu(), are in math/pick.cc.
#include "math/pick.h"

namespace paddle_mini {

void define_gather(OpTable& ops) { add_pick(ops, "gather", "gather_grad", "axis"); }

}  // namespace paddle_mini
