// Operators that a user adds to the table of the process, such as those of a library that pm.load_op has compiled.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// Adds what `define` adds to a copy of the table, or nothing: throws ProgramError if a schema is invalid, a name exists
// already or a gradient is missing. Other threads may use the table meanwhile.
void add_operators(OpTable& operators, const std::function<void(OpTable&)>& define);

// Loads a library and adds its operators to the table, or none of them: throws ProgramError as add_operators, and if the
// library can't be loaded or no operator is called `type`; "": of any name. The library stays in memory, also after an error.
void add_operator_library(OpTable& operators, const std::string& path, const std::string& type);

}  // namespace paddle_mini
