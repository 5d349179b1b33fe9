// gather: Out = what X has along an axis at the positions in Index
#include "math/pick.h"

namespace paddle_mini {

void define_gather(OpTable& ops) { add_pick(ops, "gather", "gather_grad", "axis"); }

}  // namespace paddle_mini
