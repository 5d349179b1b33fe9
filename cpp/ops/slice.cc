// slice: Out = the part of Input between starts and ends
// The records, which say .on_gpu(), are in math/slice.cc.
#include "math/slice.h"

namespace paddle_mini {

void define_slice(OpTable& ops) { add_slice(ops, "slice", "slice_grad", false); }

}  // namespace paddle_mini
