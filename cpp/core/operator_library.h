// Operators that a user adds to the table of the process, such as those of a library that pm.load_op has compiled.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// Adds what `define` adds to a copy of the table, or nothing: throws ProgramError if a schema is invalid, a name exists
// already or a gradient is missing. Other threads may use the table meanwhile. `last` runs when all is checked and nothing is
// added yet; if it throws, nothing is.
void add_operators(OpTable& operators, const std::function<void(OpTable&)>& define,
                   const std::function<void()>& last = nullptr);

// Loads a library and returns the function that adds its operators to a table; both throw ProgramError. The library stays in
// memory, also after an error.
std::function<void(OpTable&)> operators_of_library(const std::string& path);

}  // namespace paddle_mini
