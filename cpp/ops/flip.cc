// flip: Out = X reversed along some axes
// The schema, with .on_gpu(), is in ops/family/reversal.h.
#include "ops/family/reversal.h"

namespace paddle_mini {

void define_flip(OpTable& ops) { add_reversal(ops, "flip"); }

}  // namespace paddle_mini
