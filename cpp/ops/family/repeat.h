// Operators that repeat a tensor along its axes: tile, and expand of PaddlePaddle 1.
#pragma once

#include "math/axis_index_map.h"

namespace paddle_mini {

// The whole schemas. `times` is the attribute that says how often each axis is repeated; where it is shorter
// than X has axes it is about the last of them, where it is longer X gets axes of 1 in front.
void add_repeat(OpTable& ops, const char* type, const char* gradient_type, const char* times);

}  // namespace paddle_mini
