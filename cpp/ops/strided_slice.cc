// strided_slice: Out = the part of Input between starts and ends, with steps
// The schemas, with their .on_gpu(), are in ops/family/slice.cc.
#include "ops/family/slice.h"

namespace paddle_mini {

void define_strided_slice(OpTable& ops) { add_slice(ops, "strided_slice", "strided_slice_grad", true); }

}  // namespace paddle_mini
