// structure: checks that apply to every program, including programs with unknown operators.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/op_table.h"
#include "program/program.h"

namespace paddle_mini {

// Attributes that every operator may have, with their types; they do not affect its result.
const std::map<std::string, AttrType>& generic_attributes();

// The forward block of block `index`; -1 if it has none. PaddlePaddle's GradientMergeOptimizer writes a block's own
// index, which counts as none.
int forward_block(const ProgramDesc& program, int index);

// Throw ProgramError for a name that no variable may have, and for an operator with such a type, port or attribute.
void check_variable_name(const std::string& name);
void check_operator_names(const OpDesc& op);

// Throws ProgramError for blocks that do not form a tree, names that are declared twice or not printable, variables
// without a description, generic attributes of wrong types, and feed or fetch operators without a name. Linear in the
// size of the program.
void check_structure(const ProgramDesc& program, const OpTable& operators);

// The only conversion from untrusted bytes to a program: decode_program and check_structure.
ProgramDesc read_program(std::string_view bytes, const OpTable& operators);

}  // namespace paddle_mini
