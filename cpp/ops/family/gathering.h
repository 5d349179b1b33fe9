// Operators that select slabs of a tensor along an axis by the positions in Index.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// Adds the complete schemas of gather or index_select. `axis` is the name of the attribute that specifies the axis.
void add_pick(OpTable& ops, const char* type, const char* gradient_type, const char* axis);

}  // namespace paddle_mini
