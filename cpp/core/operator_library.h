// Operators that a user has compiled (pm.load_op): a shared library that adds them to the table of the process.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// Loads a library and adds its operators to the table, or none of them: throws ProgramError if the library can't be loaded,
// a schema is invalid, a name exists already, a gradient is missing, or no operator is called `type`. Other threads may use
// the table meanwhile. The library stays in memory, also after an error.
void add_operator_library(OpTable& operators, const std::string& path, const std::string& type);

}  // namespace paddle_mini
