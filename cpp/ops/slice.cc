// slice: Out = the part of Input between starts and ends
// The schemas, with their .on_gpu(), are in ops/family/slice.cc.
#include "ops/family/slice.h"

namespace paddle_mini {

void define_slice(OpTable& ops) { add_slice(ops, "slice", "slice_grad", false); }

}  // namespace paddle_mini
