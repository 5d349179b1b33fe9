// Checks the structure of a program: its tree of blocks, its declarations, and the generic attributes of operators.
#include "executor/structure.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <vector>

#include "executor/op_context.h"

namespace paddle_mini {
namespace {

constexpr int kMaxBlocks = 1000;
constexpr int kMaxDepth = 64;
constexpr size_t kMaxName = 1024;

// Names are printed, so they must not contain control characters.
void check_printable(const std::string& name, const char* what) {
  bool control = std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  require<ProgramError>(!control, what, " name has a control character: '", printable(name), "'");
}

void check_variable(const VarDesc& var, int block) {
  check_variable_name(var.name);
  if (!holds_tensor(static_cast<VarKind>(var.kind))) return;
  require<ProgramError>(var.has_tensor, "variable '", printable(var.name), "' in block ", block,
                        " has no tensor description");
  require<ProgramError>(var.lod_level >= 0 && var.lod_level <= 8, "variable '", printable(var.name), "' has lod_level ",
                        var.lod_level);
  try {
    bool made_by_an_operator = !var.persistable && !var.need_check_feed;
    // PaddlePaddle multiplies unknown dimensions: its unfold declares [-1, -6, 9].
    Shape shape = made_by_an_operator ? declared_shape(var.dims) : Shape(var.dims);
    if (shape.known()) shape.numel();
  } catch (const ShapeError& e) { fail<ProgramError>("variable '", printable(var.name), "': ", e.what()); }
}

// Blocks form a tree with block 0 as its root: a block's parent comes before it.
void check_blocks(const ProgramDesc& program) {
  int count = static_cast<int>(program.blocks.size());
  require<ProgramError>(count > 0, "the program has no blocks");
  require<ProgramError>(count <= kMaxBlocks, "the program has ", count, " blocks; at most ", kMaxBlocks,
                        " are allowed");
  std::vector<int> depth(count, 0);
  for (int i = 0; i < count; ++i) {
    const BlockDesc& block = program.blocks[i];
    require<ProgramError>(block.idx == i, "block ", i, " has index ", block.idx);
    if (i == 0) {
      require<ProgramError>(block.parent_idx == -1, "block 0 has parent ", block.parent_idx,
                            "; it must have none (-1)");
      require<ProgramError>(block.forward_block_idx == -1, "block 0 has forward block ", block.forward_block_idx,
                            "; it must have none (-1)");
      continue;
    }
    require<ProgramError>(block.parent_idx >= 0 && block.parent_idx < i, "block ", i, " has parent ", block.parent_idx,
                          "; it must be one of the blocks before it");
    require<ProgramError>(block.forward_block_idx >= -1 && block.forward_block_idx <= i, "block ", i,
                          " has forward block ", block.forward_block_idx, "; it must be one of the blocks before it");
    depth[i] = depth[block.parent_idx] + 1;
    require<ProgramError>(depth[i] <= kMaxDepth, "block ", i, " is nested deeper than ", kMaxDepth);
  }
}

void check_declarations(const BlockDesc& block) {
  std::unordered_set<std::string_view> names;
  names.reserve(block.vars.size());
  for (const VarDesc& var : block.vars) {
    check_variable(var, block.idx);
    require<ProgramError>(names.insert(var.name).second, "variable '", printable(var.name),
                          "' is declared twice in block ", block.idx);
  }
}

// Checks the block-related attributes that every operator may have.
class OperatorCheck {
 public:
  OperatorCheck(const ProgramDesc& program, const OpTable& operators)
      : program_(program), operators_(operators), taken_(program.blocks.size(), false) {}

  void operator()(const OpDesc& op, int block) {
    check_operator_names(op);
    const OpSchema* schema = operators_.find(op.type);
    for (const Attr& attr : op.attrs) {
      check_generic(attr);
      check_inner_blocks(attr, block, schema != nullptr);
    }
    if (block == 0 && schema && (schema->role() == OpRole::Feed || schema->role() == OpRole::Fetch))
      check_column(op, *schema);
  }

 private:
  static void check_generic(const Attr& attr) {
    auto known = generic_attributes().find(attr.name);
    bool fits = known == generic_attributes().end() || type_of(attr.value) == known->second;
    require<ProgramError>(fits, "attribute '", attr.name, "' is ", name_of(type_of(attr.value)), ", expected ",
                          fits ? "" : name_of(known->second));
  }

  // Each block belongs to one operator: shared blocks would multiply the work with each nesting level.
  void check_inner_blocks(const Attr& attr, int block, bool known) {
    std::vector<BlockIndex> inside;
    if (const auto* one = std::get_if<BlockIndex>(&attr.value)) inside = {*one};
    if (const auto* many = std::get_if<std::vector<BlockIndex>>(&attr.value)) inside = *many;
    for (BlockIndex sub : inside) {
      require<ProgramError>(sub.index > block && sub.index < static_cast<int>(program_.blocks.size()), "attribute '",
                            printable(attr.name), "' points to block ", sub.index,
                            ", which can't be a block inside this operator");
      int parent = program_.blocks[sub.index].parent_idx;
      require<ProgramError>(parent == block || !known, "attribute '", printable(attr.name), "' points to block ",
                            sub.index, ", whose parent is block ", parent, ", expected block ", block);
      // A list of blocks names that of the gradient, too (pylayer); it belongs to the gradient's operator.
      if (sub.index != inside[0].index && program_.blocks[sub.index].forward_block_idx == inside[0].index) continue;
      require<ProgramError>(!taken_[sub.index], "attribute '", printable(attr.name), "' points to block ", sub.index,
                            ", which another operator has");
      taken_[sub.index] = true;
    }
  }

  void check_column(const OpDesc& op, const OpSchema& schema) {
    OpDesc complete = op;
    schema.complete(complete);
    int32_t column = attr_of<int32_t>(complete, "col");
    require<ProgramError>(columns_[schema.role()].insert(column).second, "attribute 'col' is ", column,
                          ", as that of another ", op.type);
  }

  const ProgramDesc& program_;
  const OpTable& operators_;
  std::vector<bool> taken_;
  std::map<OpRole, std::set<int32_t>> columns_;
};

}  // namespace

void check_variable_name(const std::string& name) {
  require<ProgramError>(!name.empty(), "variable has an empty name");
  require<ProgramError>(name.size() <= kMaxName, "variable name of ", name.size(), " bytes: '", printable(name, 40),
                        "'");
  check_printable(name, "variable");
}

void check_operator_names(const OpDesc& op) {
  check_printable(op.type, "operator's");
  for (const auto* slots : {&op.inputs, &op.outputs})
    for (const Slot& slot : *slots) check_printable(slot.name, "port's");
  for (const Attr& attr : op.attrs) check_printable(attr.name, "attribute's");
}

const std::map<std::string, AttrType>& generic_attributes() {
  static const std::map<std::string, AttrType> types = {
      {"op_role", AttrType::Int},          {"op_role_var", AttrType::Strings}, {"op_namescope", AttrType::String},
      {"op_callstack", AttrType::Strings}, {"op_device", AttrType::String},    {"with_quant_attr", AttrType::Boolean}};
  return types;
}

int forward_block(const ProgramDesc& program, int index) {
  int forward = program.blocks[index].forward_block_idx;
  return forward == index ? -1 : forward;
}

void check_structure(const ProgramDesc& program, const OpTable& operators) {
  check_blocks(program);
  OperatorCheck check(program, operators);
  for (const BlockDesc& block : program.blocks) {
    check_declarations(block);
    for (size_t i = 0; i < block.ops.size(); ++i) {
      with_op_context({block.ops[i], static_cast<int>(i), block.idx}, [&] { check(block.ops[i], block.idx); });
    }
  }
}

ProgramDesc read_program(std::string_view bytes, const OpTable& operators) {
  ProgramDesc program = decode_program(bytes);
  check_structure(program, operators);
  return program;
}

}  // namespace paddle_mini
