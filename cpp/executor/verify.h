// verify: is this a program at all? Every operator known and complete, blocks a tree, names declared.
#pragma once

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/op_table.h"
#include "program/program.h"

namespace paddle_mini {

struct VerifiedOp {
  const OpSpec* spec;
  OpDesc desc;        // with all attributes of the record filled in
  bool is_control = false;  // acts on blocks, arrays or names (core/control.h)
};

struct VerifiedBlock {
  int parent = -1;
  int forward = -1;            // of a block of gradients: the block whose values it reads
  bool has_gradient = false;   // there is such a block for this one
  std::vector<VerifiedOp> ops;
  std::unordered_map<std::string, VarDesc> vars;
  std::unordered_map<std::string, int> last_read;  // the last operator that reads a name, in blocks inside it too
  std::vector<std::string> changed_in_place;       // names that one operator both reads and writes
  std::unordered_set<std::string> kept;            // names of values that are read after the block has run
};

class VerifiedProgram {
 public:
  std::vector<VerifiedBlock> blocks;
  const OpTable* operators = nullptr;
  std::set<std::string>
      written;  // variables that outlive a run and that some operator writes; lists of feeds and fetches do not count

  // The declaration that a name has in this block, its forward block or the nearest one around it;
  // nullptr for none.
  const VarDesc* find(int block, const std::string& name) const;
  bool declares(int block, const std::string& name) const;  // this block or its forward block
};

// Refuses with ProgramError; nothing is run. `operators` must outlive the result.
VerifiedProgram verify(const ProgramDesc& program, const OpTable& operators);

}  // namespace paddle_mini
