// strided_slice: Out = the part of Input between starts and ends, by steps
#include "math/slice.h"

namespace paddle_mini {

void define_strided_slice(OpTable& ops) { add_slice(ops, "strided_slice", "strided_slice_grad", true); }

}  // namespace paddle_mini
