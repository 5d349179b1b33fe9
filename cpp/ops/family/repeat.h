// Operators that repeat a tensor along its axes: tile, and expand of PaddlePaddle 1.
#pragma once

#include "math/axis_index_map.h"

namespace paddle_mini {

// Adds the complete schemas. The attribute `times` has the repetitions of each axis. If it is shorter than X's rank, it
// applies to the last axes; if it is longer, X gets leading axes of 1.
void add_repeat(OpTable& ops, const char* type, const char* gradient_type, const char* times);

}  // namespace paddle_mini
