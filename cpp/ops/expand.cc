// expand: Out = X repeated along its axes, as PaddlePaddle 1 wrote it
// The schemas, which say .on_gpu(), are in ops/family/repeat.cc.
#include "ops/family/repeat.h"

namespace paddle_mini {

void define_expand(OpTable& ops) { add_repeat(ops, "expand", "expand_grad", "expand_times"); }

}  // namespace paddle_mini
