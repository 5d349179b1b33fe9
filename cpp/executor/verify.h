// verify: checks that a program is valid: operators known and complete, blocks a tree, names declared.
#pragma once

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/op_table.h"
#include "program/program.h"

namespace paddle_mini {

struct VerifiedOp {
  const OpSchema* schema;
  OpDesc desc;        // with defaults of the schema filled in
  bool is_control = false;  // acts on blocks, arrays or names (core/control.h)
};

struct VerifiedBlock {
  int parent = -1;
  int forward = -1;            // for a gradient block: the block whose values it reads
  bool has_gradient = false;   // a gradient block of this block exists
  std::vector<VerifiedOp> ops;
  std::unordered_map<std::string, VarDesc> vars;
  std::unordered_map<std::string, int> last_read;  // the last operator that reads a name, including inner blocks
  std::vector<std::string> changed_in_place;       // names that one operator both reads and writes
  // Names whose shapes are read by operators that read no values (fill_any_like), here or in the gradient block.
  std::unordered_set<std::string> only_shapes_read;
  std::unordered_set<std::string> live_out;        // names of values that are read after the block has run
};

class VerifiedProgram {
 public:
  std::vector<VerifiedBlock> blocks;
  const OpTable* operators = nullptr;
  std::set<std::string> written;  // persistable variables that an operator writes, except feed and fetch lists

  // The declaration of a name in this block, its forward block or the nearest enclosing one; nullptr if there is none.
  const VarDesc* find(int block, const std::string& name) const;
  bool declares(int block, const std::string& name) const;  // in this block or its forward block
};

// Throws ProgramError if the program is invalid; nothing is executed. `operators` must outlive the result.
VerifiedProgram verify(const ProgramDesc& program, const OpTable& operators);

}  // namespace paddle_mini
