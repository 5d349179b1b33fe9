// Stage 1. What bytes can claim and this refuses is listed in tests/executor/test_verify.py.
#include "executor/verify.h"

#include <set>

#include "executor/site.h"

namespace paddle_mini {
namespace {

constexpr int kMaxBlocks = 1000;
constexpr int kMaxDepth = 64;
constexpr size_t kMaxName = 1024;

void check_name(const std::string& name, const char* what) {
  require<ProgramError>(!name.empty(), what, " has an empty name");
  require<ProgramError>(name.size() <= kMaxName, what, " name of ", name.size(), " bytes: '", printable(name, 40), "'");
  for (unsigned char c : name) {
    require<ProgramError>(c >= 0x20 && c != 0x7f, what, " name has a control character: '", printable(name), "'");
  }
}

void check_variable(const VarDesc& var, int block) {
  check_name(var.name, "variable");
  auto kind = static_cast<VarKind>(var.kind);
  bool holds_values = kind == VarKind::Tensor || kind == VarKind::SelectedRows;
  if (!holds_values) return;
  require<ProgramError>(var.has_tensor, "variable '", printable(var.name), "' in block ", block, " has no tensor description");
  require<ProgramError>(is_dtype(var.dtype), "variable '", printable(var.name), "' has data type number ", var.dtype,
                        ", which is not supported");
  require<ProgramError>(var.lod_level >= 0 && var.lod_level <= 8, "variable '", printable(var.name),
                        "' has lod_level ", var.lod_level);
  try {
    bool made_by_an_operator = !var.persistable && !var.need_check_feed;
    Shape shape = made_by_an_operator && var.dims.size() == 1 ? declared_shape(var.dims) : Shape(var.dims);
    if (shape.known()) shape.numel();
  } catch (const ShapeError& e) {
    fail<ProgramError>("variable '", printable(var.name), "': ", e.what());
  }
}

// Blocks form a tree with block 0 as its root: a block's parent comes before it.
void check_blocks(const ProgramDesc& program) {
  int count = static_cast<int>(program.blocks.size());
  require<ProgramError>(count > 0, "the program has no blocks");
  require<ProgramError>(count <= kMaxBlocks, "the program has ", count, " blocks; at most ", kMaxBlocks, " are allowed");
  std::vector<int> depth(count, 0);
  for (int i = 0; i < count; ++i) {
    const BlockDesc& block = program.blocks[i];
    require<ProgramError>(block.idx == i, "block ", i, " says that it is block ", block.idx);
    if (i == 0) {
      require<ProgramError>(block.parent_idx == -1, "block 0 has parent ", block.parent_idx, "; it must have none (-1)");
      continue;
    }
    require<ProgramError>(block.parent_idx >= 0 && block.parent_idx < i, "block ", i, " has parent ", block.parent_idx,
                          "; it must be one of the blocks before it");
    require<ProgramError>(block.forward_block_idx >= -1 && block.forward_block_idx < i, "block ", i, " has forward block ",
                          block.forward_block_idx, "; it must be one of the blocks before it");
    depth[i] = depth[block.parent_idx] + 1;
    require<ProgramError>(depth[i] <= kMaxDepth, "block ", i, " is nested deeper than ", kMaxDepth);
  }
}

// A block belongs to one operator: blocks that several run would multiply with each level of nesting.
void check_block_attributes(const OpDesc& op, int block, const VerifiedProgram& program, std::set<int>& taken) {
  int blocks = static_cast<int>(program.blocks.size());
  for (const Attr& attr : op.attrs) {
    std::vector<BlockIndex> inside;
    if (const auto* one = std::get_if<BlockIndex>(&attr.value)) inside = {*one};
    if (const auto* many = std::get_if<std::vector<BlockIndex>>(&attr.value)) inside = *many;
    for (BlockIndex sub : inside) {
      require<ProgramError>(sub.index > block && sub.index < blocks, "attribute '", printable(attr.name),
                            "' points to block ", sub.index, ", which can't be a block inside this operator");
      int parent = program.blocks[sub.index].parent;
      require<ProgramError>(parent == block, "attribute '", printable(attr.name), "' points to block ", sub.index,
                            ", whose parent is block ", parent, ", expected block ", block);
      require<ProgramError>(taken.insert(sub.index).second, "attribute '", printable(attr.name), "' points to block ", sub.index,
                            ", which another operator has");
    }
  }
}

void check_names(const VerifiedProgram& program, int block, const OpDesc& op) {
  auto check = [&](const std::vector<Slot>& slots, const char* side) {
    for (const Slot& slot : slots) {
      for (const std::string& name : slot.arguments) {
        require<ProgramError>(name == kEmptyName || program.find(block, name), side, " ", slot.name, " names the variable '",
                              printable(name), "', which the program does not declare");
      }
    }
  };
  check(op.inputs, "input");
  check(op.outputs, "output");
}

std::vector<int> blocks_inside(const OpDesc& op) {
  std::vector<int> inside;
  for (const Attr& attr : op.attrs) {
    if (const BlockIndex* sub = std::get_if<BlockIndex>(&attr.value)) inside.push_back(sub->index);
    if (const auto* subs = std::get_if<std::vector<BlockIndex>>(&attr.value)) {
      for (const BlockIndex& sub : *subs) inside.push_back(sub.index);
    }
  }
  return inside;
}

template <class F>
void each_name(const std::vector<Slot>& slots, F f) {
  for (const Slot& slot : slots) for (const std::string& name : slot.arguments) if (name != kEmptyName) f(name);
}

bool is_control(const VerifiedProgram& program, int block, const VerifiedOp& op) {
  if (!op.spec->control_function()) return false;
  bool tensors = op.spec->has_kernels();
  auto look = [&](const std::string& name) { tensors = tensors && holds_tensor(static_cast<VarKind>(program.find(block, name)->kind)); };
  each_name(op.desc.inputs, look);
  each_name(op.desc.outputs, look);
  return !tensors;
}

// The names that each block reads or writes, blocks inside it included; those come after it.
std::vector<std::unordered_set<std::string>> names_of_blocks(const VerifiedProgram& program) {
  std::vector<std::unordered_set<std::string>> names(program.blocks.size());
  for (size_t b = program.blocks.size(); b-- > 0;) {
    auto add = [&](const std::string& name) { names[b].insert(name); };
    for (const VerifiedOp& op : program.blocks[b].ops) {
      each_name(op.desc.inputs, add);
      each_name(op.desc.outputs, add);
      for (int inside : blocks_inside(op.desc)) names[b].insert(names[inside].begin(), names[inside].end());
    }
  }
  return names;
}

// The frames that an operator runs a block in must stay while it does.
void check_step_scopes(const VerifiedProgram& program, int block, const OpDesc& op, const std::unordered_set<std::string>& inside) {
  each_name(op.inputs, [&](const std::string& name) {
    bool scopes = static_cast<VarKind>(program.find(block, name)->kind) == VarKind::StepScopes;
    require<ProgramError>(!scopes || !inside.count(name), "the step scopes '", printable(name),
                          "' are an input of this operator, and named in a block inside it");
  });
}

// What the operator that runs a block takes from it: the names it has itself, as they are or as
// gradients, and those its attributes list.
void keep_for_operator(VerifiedBlock& inside, const OpDesc& op) {
  auto keep = [&](const std::string& name) {
    inside.kept.insert(name);
    inside.kept.insert(name + kGradSuffix);
  };
  each_name(op.inputs, keep);
  each_name(op.outputs, keep);
  for (const Attr& attr : op.attrs) {
    const auto* names = std::get_if<std::vector<std::string>>(&attr.value);
    if (names && attr.name != "op_callstack") for (const std::string& name : *names) keep(name);
  }
}

void note_reads(VerifiedProgram& program) {
  const auto names = names_of_blocks(program);
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    VerifiedBlock& block = program.blocks[b];
    for (int i = 0; i < static_cast<int>(block.ops.size()); ++i) {
      const OpDesc& op = block.ops[i].desc;
      auto read = [&](const std::string& name) { block.last_read[name] = i; };
      each_name(op.inputs, read);
      each_name(op.outputs, [&](const std::string& name) {
        auto it = block.last_read.find(name);
        if (it != block.last_read.end() && it->second == i) block.changed_in_place.push_back(name);
      });
      for (int inside : blocks_inside(op)) {
        at_op({op, i, static_cast<int>(b)}, [&] { check_step_scopes(program, static_cast<int>(b), op, names[inside]); });
        for (const std::string& name : names[inside]) read(name);
        keep_for_operator(program.blocks[inside], op);
      }
    }
    if (block.forward < 0) continue;
    program.blocks[block.forward].has_gradient = true;
    program.blocks[block.forward].kept.insert(names[b].begin(), names[b].end());
  }
}

}  // namespace

const VarDesc* VerifiedProgram::find(int block, const std::string& name) const {
  auto in = [&](int b) -> const VarDesc* {
    auto it = blocks[b].vars.find(name);
    return it == blocks[b].vars.end() ? nullptr : &it->second;
  };
  for (; block >= 0; block = blocks[block].parent) {
    if (const VarDesc* var = in(block)) return var;
    if (blocks[block].forward < 0) continue;
    if (const VarDesc* var = in(blocks[block].forward)) return var;
  }
  return nullptr;
}

bool VerifiedProgram::declares(int block, const std::string& name) const {
  int forward = blocks[block].forward;
  return blocks[block].vars.count(name) || (forward >= 0 && blocks[forward].vars.count(name));
}

VerifiedProgram verify(const ProgramDesc& desc, const OpTable& operators) {
  check_blocks(desc);
  VerifiedProgram program;
  program.operators = &operators;
  for (const BlockDesc& block : desc.blocks) {
    VerifiedBlock verified;
    verified.parent = block.parent_idx;
    verified.forward = block.forward_block_idx;
    for (const VarDesc& var : block.vars) {
      check_variable(var, block.idx);
      require<ProgramError>(verified.vars.emplace(var.name, var).second, "variable '", printable(var.name),
                            "' is declared twice in block ", block.idx);
    }
    program.blocks.push_back(std::move(verified));
  }
  std::set<int> taken;
  for (const BlockDesc& block : desc.blocks) {
    auto& ops = program.blocks[block.idx].ops;
    ops.reserve(block.ops.size());
    for (size_t i = 0; i < block.ops.size(); ++i) {
      at_op({block.ops[i], static_cast<int>(i), block.idx}, [&] {
        VerifiedOp op{&operators.at(block.ops[i].type), block.ops[i]};
        op.spec->complete(op.desc);
        check_block_attributes(op.desc, block.idx, program, taken);
        check_names(program, block.idx, op.desc);
        op.is_control = is_control(program, block.idx, op);
        each_name(op.desc.outputs, [&](const std::string& name) {
          program.changes_scope |= name != kEmptyName && program.find(block.idx, name)->persistable;
        });
        ops.push_back(std::move(op));
      });
    }
  }
  note_reads(program);
  return program;
}

}  // namespace paddle_mini
