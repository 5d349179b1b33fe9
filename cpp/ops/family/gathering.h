// Operators that pick slabs of a tensor along an axis by the positions in Index.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// The whole schemas of gather or index_select. `axis` names the attribute that says which axis.
void add_pick(OpTable& ops, const char* type, const char* gradient_type, const char* axis);

}  // namespace paddle_mini
