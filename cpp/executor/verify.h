// verify: is this a program at all? Every operator known and complete, blocks a tree, names declared.
#pragma once

#include <unordered_map>

#include "core/op_table.h"
#include "program/program.h"

namespace paddle_mini {

struct VerifiedOp {
  const OpSpec* spec;
  OpDesc desc;  // with all attributes of the record filled in
};

struct VerifiedBlock {
  int parent = -1;
  std::vector<VerifiedOp> ops;
  std::unordered_map<std::string, VarDesc> vars;
};

class VerifiedProgram {
 public:
  std::vector<VerifiedBlock> blocks;
  const OpTable* operators = nullptr;

  // The declaration that a name has in this block or the nearest one around it; nullptr for none.
  const VarDesc* find(int block, const std::string& name) const;
};

// Refuses with ProgramError; nothing is run. `operators` must outlive the result.
VerifiedProgram verify(const ProgramDesc& program, const OpTable& operators);

}  // namespace paddle_mini
