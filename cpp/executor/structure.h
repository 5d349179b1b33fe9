// structure: what holds of every program, also of one whose operators this build does not know.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/op_table.h"
#include "program/program.h"

namespace paddle_mini {

// Attributes that every operator may have, and their types; they say nothing about what it computes.
const std::map<std::string, AttrType>& generic_attributes();

// The forward block of block `index`; -1 for none. PaddlePaddle's GradientMergeOptimizer writes a block's own index.
int forward_block(const ProgramDesc& program, int index);

// Refuse with ProgramError a name that no program may have; of an operator those of its type, ports and attributes.
void check_variable_name(const std::string& name);
void check_operator_names(const OpDesc& op);

// Refuses with ProgramError: blocks that don't form a tree, names that are declared twice or can't be shown, variables without a
// description, generic attributes of another type, operators feed and fetch that name nothing. Linear in the size of the program.
void check_structure(const ProgramDesc& program, const OpTable& operators);

// The one way from bytes that come from outside to a program: decode_program and check_structure.
ProgramDesc read_program(std::string_view bytes, const OpTable& operators);

}  // namespace paddle_mini
