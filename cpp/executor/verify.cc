// Stage 1. What bytes can claim and this refuses is listed in tests/executor/test_verify.py.
#include "executor/verify.h"

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
    Shape shape(var.dims);
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
    depth[i] = depth[block.parent_idx] + 1;
    require<ProgramError>(depth[i] <= kMaxDepth, "block ", i, " is nested deeper than ", kMaxDepth);
  }
}

void check_block_attributes(const OpDesc& op, int block, int blocks) {
  for (const Attr& attr : op.attrs) {
    const BlockIndex* sub = std::get_if<BlockIndex>(&attr.value);
    if (!sub) continue;
    require<ProgramError>(sub->index > 0 && sub->index < blocks && sub->index != block, "attribute '", printable(attr.name),
                          "' points to block ", sub->index, ", which can't be a block inside this operator");
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

}  // namespace

const VarDesc* VerifiedProgram::find(int block, const std::string& name) const {
  for (; block >= 0; block = blocks[block].parent) {
    auto it = blocks[block].vars.find(name);
    if (it != blocks[block].vars.end()) return &it->second;
  }
  return nullptr;
}

VerifiedProgram verify(const ProgramDesc& desc, const OpTable& operators) {
  check_blocks(desc);
  VerifiedProgram program;
  program.operators = &operators;
  int count = static_cast<int>(desc.blocks.size());
  for (const BlockDesc& block : desc.blocks) {
    VerifiedBlock verified;
    verified.parent = block.parent_idx;
    for (const VarDesc& var : block.vars) {
      check_variable(var, block.idx);
      require<ProgramError>(verified.vars.emplace(var.name, var).second, "variable '", printable(var.name),
                            "' is declared twice in block ", block.idx);
    }
    program.blocks.push_back(std::move(verified));
  }
  for (const BlockDesc& block : desc.blocks) {
    auto& ops = program.blocks[block.idx].ops;
    ops.reserve(block.ops.size());
    for (size_t i = 0; i < block.ops.size(); ++i) {
      at_op({block.ops[i], static_cast<int>(i), block.idx}, [&] {
        VerifiedOp op{&operators.at(block.ops[i].type), block.ops[i]};
        op.spec->complete(op.desc);
        check_block_attributes(op.desc, block.idx, count);
        check_names(program, block.idx, op.desc);
        ops.push_back(std::move(op));
      });
    }
  }
  return program;
}

}  // namespace paddle_mini
