// reverse: Out = X reversed along some axes
// The schema, with its .on_gpu(), is in ops/family/reversal.h.
#include "ops/family/reversal.h"

namespace paddle_mini {

void define_reverse(OpTable& ops) { add_reversal(ops, "reverse"); }

}  // namespace paddle_mini
