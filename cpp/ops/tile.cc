// tile: Out = X repeated along its axes
// The schemas, with their .on_gpu(), are in ops/family/repeat.cc.
#include "ops/family/repeat.h"

namespace paddle_mini {

void define_tile(OpTable& ops) { add_repeat(ops, "tile", "tile_grad", "repeat_times"); }

}  // namespace paddle_mini
