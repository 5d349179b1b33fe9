// expand: Out = X tiled along its axes, as in PaddlePaddle 1
// The schemas, with .on_gpu(), are in ops/family/repeat.cc.
#include "ops/family/repeat.h"

namespace paddle_mini {

void define_expand(OpTable& ops) { add_repeat(ops, "expand", "expand_grad", "expand_times"); }

}  // namespace paddle_mini
