// Implements verify, the first stage. tests/executor/test_verify.py lists the invalid programs that it rejects.
#include "executor/verify.h"

#include <algorithm>

#include "core/running_statistics.h"
#include "executor/op_context.h"
#include "executor/structure.h"

namespace paddle_mini {
namespace {

// Fetches are returned to the caller and not stored in the scope, although programs declare the fetch list persistable.
bool outlives_runs(const VarDesc& var) {
  auto kind = static_cast<VarKind>(var.kind);
  return var.persistable && kind != VarKind::FeedList && kind != VarKind::FetchList;
}

// An operator that uses running statistics lists them as outputs but does not change them.
bool leaves_unchanged(const VerifiedOp& op, const std::string& name) {
  auto says = [&](const char* attr) {
    const AttrValue* value = op.desc.attr(attr);
    return value && std::get_if<bool>(value) && std::get<bool>(*value);
  };
  if (!uses_running_statistics(says)) return false;
  auto updates = [&](const auto& pair) {
    const std::vector<std::string>& outputs = op.desc.output(pair.second);
    return !outputs.empty() && op.desc.input(pair.first) == outputs && outputs[0] == name;
  };
  const auto& pairs = op.schema->update_pairs();
  return std::any_of(pairs.begin(), pairs.end(), updates);
}

void check_dtype(const VarDesc& var) {
  if (!holds_tensor(static_cast<VarKind>(var.kind))) return;
  require<ProgramError>(is_dtype(var.dtype), "variable '", printable(var.name), "' has elements of type ",
                        type_name(var.dtype), ", which is not supported");
}

// An operator whose kernel is a Python function says which, because programs name only the operator.
void fail_for_python_function(const OpDesc& op) {
  const AttrValue* name = op.attr("python_function");
  const std::string* function = name ? std::get_if<std::string>(name) : nullptr;
  if (function && op.type == "py_func")
    fail<ProgramError>("it calls the Python function ", printable(*function),
                       ", which this process does not have: pass it to pm.register_py_func first");
  if (function)
    fail<ProgramError>("the operator is the Python function ", printable(*function),
                       ", which this process does not have: import the module that defines it first");
  if (op.type == "py_func")
    fail<ProgramError>(
        "it calls a Python function by its number in the process that made the program; only programs "
        "of pm.layers.py_func name the function");
}

// Reports all unknown operators at once, so that one message shows whether the program needs another build.
void require_known(const ProgramDesc& program, const OpTable& operators) {
  constexpr size_t kMostListed = 20;
  std::vector<std::string> unknown;
  std::unordered_set<std::string_view> seen;
  const OpDesc* first = nullptr;
  int index = 0, of_block = 0;
  for (const BlockDesc& block : program.blocks) {
    for (size_t i = 0; i < block.ops.size(); ++i) {
      const OpDesc& op = block.ops[i];
      if (operators.find(op.type) || !seen.insert(op.type).second) continue;
      if (!first) first = &op, index = static_cast<int>(i), of_block = block.idx;
      if (unknown.size() < kMostListed) unknown.push_back("'" + printable(op.type, 40) + "'");
    }
  }
  if (!first) return;
  with_op_context({*first, index, of_block}, [&] {
    fail_for_python_function(*first);
    if (seen.size() == 1) operators.at(first->type);  // suggests the nearest name
    std::string list;
    for (const std::string& type : unknown) list += (list.empty() ? "" : ", ") + type;
    fail<ProgramError>(seen.size(), " types of operators are not known: ", list,
                       seen.size() > unknown.size() ? ", ..." : "");
  });
}

// PaddlePaddle lists the gradients of all outputs of a block, and declares only those that an operator makes.
void declare_missing_gradients(VerifiedProgram& program, int block, const OpDesc& op) {
  const std::string_view suffix = kGradSuffix;
  auto value_of = [&](const std::string& name) {  // the value that this is the gradient of; empty: it is none
    const bool ends =
        name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
    return ends ? name.substr(0, name.size() - suffix.size()) : "";
  };
  for (const Slot& slot : op.inputs) {
    if (value_of(slot.name).empty()) continue;
    for (const std::string& name : slot.arguments) {
      const VarDesc* value = program.find(block, name) ? nullptr : program.find(block, value_of(name));
      if (!value) continue;
      VarDesc missing = *value;
      missing.name = name;
      missing.persistable = missing.need_check_feed = false;
      program.blocks[static_cast<size_t>(block)].vars.emplace(name, std::move(missing));
    }
  }
}

void check_names(const VerifiedProgram& program, int block, const OpDesc& op) {
  auto check = [&](const char* side, const std::string& where, const std::string& name) {
    require<ProgramError>(name == kEmptyName || program.find(block, name), side, " ", printable(where),
                          " names the variable '", printable(name), "', which the program does not declare");
  };
  for (const Slot& slot : op.inputs)
    for (const std::string& name : slot.arguments) check("input", slot.name, name);
  for (const Slot& slot : op.outputs)
    for (const std::string& name : slot.arguments) check("output", slot.name, name);
  for (const Attr& attr : op.attrs) {
    if (const auto* one = std::get_if<VarName>(&attr.value)) check("attribute", attr.name, one->name);
    if (const auto* several = std::get_if<std::vector<VarName>>(&attr.value))
      for (const VarName& one : *several) check("attribute", attr.name, one.name);
  }
}

template <class F>
void each_name(const std::vector<Slot>& slots, F f) {
  for (const Slot& slot : slots)
    for (const std::string& name : slot.arguments)
      if (name != kEmptyName) f(name);
}

bool reads_array(const VerifiedProgram& program, int block, const OpDesc& op) {
  bool found = false;
  each_name(op.inputs, [&](const std::string& name) {
    const VarDesc* var = program.find(block, name);
    found = found || (var && static_cast<VarKind>(var->kind) == VarKind::TensorArray);
  });
  return found;
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

// The names that each block and its inner blocks read or write. Inner blocks have larger indices.
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

// The frames in which an operator runs a block must exist while it does.
void check_step_scopes(const VerifiedProgram& program, int block, const OpDesc& op,
                       const std::unordered_set<std::string>& inside) {
  each_name(op.inputs, [&](const std::string& name) {
    bool scopes = static_cast<VarKind>(program.find(block, name)->kind) == VarKind::StepScopes;
    require<ProgramError>(!scopes || !inside.count(name), "the step scopes '", printable(name),
                          "' are an input of this operator, and named in a block inside it");
  });
}

// Adds to live_out of a block the names that its operator reads there after a run: those of the operator's own ports,
// their gradients, and names in its attributes.
void keep_for_operator(VerifiedBlock& inside, const OpDesc& op) {
  auto keep = [&](const std::string& name) {
    inside.live_out.insert(name);
    inside.live_out.insert(name + kGradSuffix);
  };
  each_name(op.inputs, keep);
  each_name(op.outputs, keep);
  for (const Attr& attr : op.attrs) {
    const auto* names = std::get_if<std::vector<std::string>>(&attr.value);
    if (names && attr.name != "op_callstack")
      for (const std::string& name : *names) keep(name);
  }
}

// Whether each block is run by an operator. pylayer names the block of its gradient beside its own, but only pylayer_grad
// runs it: without one, its operators may read gradients that the program does not have.
std::vector<bool> blocks_that_run(const ProgramDesc& program) {
  std::vector<bool> run(program.blocks.size());
  for (const BlockDesc& block : program.blocks) {
    for (const OpDesc& op : block.ops) {
      const std::vector<int> inside = blocks_inside(op);
      for (int sub : inside) run[sub] = run[sub] || sub == inside[0] || forward_block(program, sub) != inside[0];
    }
  }
  return run;
}

bool reads_only_shapes(const VerifiedOp& op) {
  const std::vector<Slot>& slots = op.desc.inputs;
  return std::all_of(slots.begin(), slots.end(),
                     [&](const Slot& slot) { return op.schema->reads_only_shape(slot.name); });
}

void note_reads(VerifiedProgram& program) {
  const auto names = names_of_blocks(program);
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    VerifiedBlock& block = program.blocks[b];
    for (int i = 0; i < static_cast<int>(block.ops.size()); ++i) {
      const OpDesc& op = block.ops[i].desc;
      auto read = [&](const std::string& name) { block.last_read[name] = i; };
      each_name(op.inputs, read);
      if (reads_only_shapes(block.ops[i])) {
        VerifiedBlock& of = block.forward < 0 ? block : program.blocks[block.forward];
        each_name(op.inputs, [&](const std::string& name) { of.only_shapes_read.insert(name); });
      }
      each_name(op.outputs, [&](const std::string& name) {
        auto it = block.last_read.find(name);
        if (it != block.last_read.end() && it->second == i) block.changed_in_place.push_back(name);
      });
      for (int inside : blocks_inside(op)) {
        with_op_context({op, i, static_cast<int>(b)},
                        [&] { check_step_scopes(program, static_cast<int>(b), op, names[inside]); });
        for (const std::string& name : names[inside]) read(name);
        keep_for_operator(program.blocks[inside], op);
      }
    }
    if (block.forward < 0) continue;
    program.blocks[block.forward].has_gradient = true;
    program.blocks[block.forward].live_out.insert(names[b].begin(), names[b].end());
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
  check_structure(desc, operators);
  require_known(desc, operators);
  VerifiedProgram program;
  program.operators = &operators;
  const std::vector<bool> run = blocks_that_run(desc);
  auto is_unused_gradient = [&](int block) { return !run[block] && forward_block(desc, block) >= 0; };
  for (const BlockDesc& block : desc.blocks) {
    VerifiedBlock verified;
    verified.parent = block.parent_idx;
    verified.forward = is_unused_gradient(block.idx) ? -1 : forward_block(desc, block.idx);
    verified.vars.reserve(block.vars.size());
    for (const VarDesc& var : block.vars) {
      check_dtype(var);
      verified.vars.emplace(var.name, var);
    }
    program.blocks.push_back(std::move(verified));
  }
  for (const BlockDesc& block : desc.blocks) {
    if (is_unused_gradient(block.idx)) continue;
    auto& ops = program.blocks[block.idx].ops;
    ops.reserve(block.ops.size());
    for (size_t i = 0; i < block.ops.size(); ++i) {
      with_op_context({block.ops[i], static_cast<int>(i), block.idx}, [&] {
        VerifiedOp op{&operators.at(block.ops[i].type), block.ops[i]};
        op.schema->complete(op.desc);
        op.is_control =
            op.schema->control_function() && (!op.schema->has_kernels() || reads_array(program, block.idx, op.desc));
        if (op.is_control) declare_missing_gradients(program, block.idx, op.desc);
        check_names(program, block.idx, op.desc);
        each_name(op.desc.outputs, [&](const std::string& name) {
          bool changes =
              name != kEmptyName && outlives_runs(*program.find(block.idx, name)) && !leaves_unchanged(op, name);
          if (changes) program.written.insert(name);
        });
        ops.push_back(std::move(op));
      });
    }
  }
  note_reads(program);
  return program;
}

}  // namespace paddle_mini
