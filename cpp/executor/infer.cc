// Implements infer, the second stage: interprets the operators of a block symbolically, mapping each name to the
// description of its value.
#include "executor/infer.h"

#include <algorithm>
#include <map>

#include "executor/op_context.h"
#include "program/tensor_file.h"

namespace paddle_mini {
namespace {

// Lists the names of a program's data, for the error about an unknown feed; "" if there are none.
std::string known_feeds(const VerifiedProgram& program) {
  std::string names;
  for (const auto& entry : program.blocks[0].vars) {
    if (!entry.second.need_check_feed) continue;
    names += (names.empty() ? "'" : ", '") + printable(entry.first, 40) + "'";
    if (names.size() > 200) return names + ", ...";
  }
  return names.empty() ? "" : "; the program's data are " + names;
}

// Checks a value against its declaration.
void check_against(const VarDesc& var, const VarInfo& info, const char* what) {
  require<ShapeError>(info.kind == static_cast<VarKind>(var.kind), what, " '", var.name, "' is ", name_of(info.kind),
                      ", the program declares ", name_of(static_cast<VarKind>(var.kind)));
  auto declared = static_cast<DType>(var.dtype);
  require<ShapeError>(info.dtype == declared, what, " '", var.name, "' is ", name_of(info.dtype),
                      ", the program declares ", name_of(declared));
  // An empty shape of a persistable variable means that the program leaves it open.
  if (var.dims.empty() && var.persistable) return;
  require<ShapeError>(fits_declaration(info.shape, var), what, " '", var.name, "' has shape ", info.shape.str(),
                      ", the program declares ", declared_shape(var.dims).str());
}

void check_feed(const VerifiedProgram& program, const Feed& feed) {
  const VarDesc* var = program.find(0, feed.name);
  require<ProgramError>(var, "feed '", printable(feed.name), "': the program has no such variable",
                        known_feeds(program));
  check_against(*var, feed.info, "feed");
}

// Whether a variable can have one value only, that without elements.
bool is_empty(const VarDesc& var) {
  const Shape shape = declared_shape(var.dims);
  return static_cast<VarKind>(var.kind) == VarKind::Tensor && shape.known() && shape.numel() == 0;
}

class Inference {
 public:
  Inference(const std::shared_ptr<const VerifiedProgram>& program, const SegmentStart& start, const Scope& scope)
      : shared_(program), program_(*program), start_(start), block_(program->blocks[start.block]), scope_(scope) {}

  Segment run() {
    result_.block = start_.block;
    result_.begin = start_.begin;
    result_.reads_only = program_.written.empty();
    result_.scope = &scope_;
    if (start_.feeds)
      for (const Feed& feed : *start_.feeds) add_feed(feed);
    int i = start_.begin, count = static_cast<int>(block_.ops.size());
    while (i < count && !block_.ops[i].is_control && add_op(i, block_.ops[i])) ++i;
    result_.end = i;
    result_.whole = i == count;
    if (!result_.whole) result_.next = block_.ops[i].desc.type;
    if (result_.whole && start_.fetches)
      for (const std::string& name : *start_.fetches) add_fetch(name);
    for (const auto& entry : set_aside_) settle(entry.second);
    find_live_out();
    return std::move(result_);
  }

 private:
  void add_feed(const Feed& feed) {
    check_feed(program_, feed);
    require<ShapeError>(!fed(feed.name), "feed '", feed.name, "' is given twice");
    int index = result_.add({feed.name, feed.info, Origin::Fed});
    current_[feed.name] = index;
    result_.feeds.push_back(index);
  }

  bool fed(const std::string& name) const {
    auto it = current_.find(name);
    return it != current_.end() && result_.variables[it->second].origin == Origin::Fed;
  }

  // Finds variables that are read after this segment: later in the block, outside of it, by its gradients, or by the
  // caller.
  void find_live_out() {
    for (const auto& [name, index] : current_) {
      if (result_.variables[index].origin != Origin::Temporary) continue;
      auto last = block_.last_read.find(name);
      bool later = last != block_.last_read.end() && last->second >= result_.end;
      if (!later && start_.frame) later = block_.live_out.count(name) || !program_.declares(start_.block, name);
      if (!later && !result_.whole && start_.fetches) {
        later = std::find(start_.fetches->begin(), start_.fetches->end(), name) != start_.fetches->end();
      }
      if (later) result_.live_out.push_back(index);
    }
    std::sort(result_.live_out.begin(), result_.live_out.end());
  }

  int resolve(const std::string& name) {
    auto it = current_.find(name);
    if (it != current_.end()) return it->second;
    const VarDesc& var = *program_.find(start_.block, name);
    Variable* there =
        start_.frame ? start_.frame->find(name) : nullptr;  // a persistable variable is there if it is fed
    if (there && there->has_value()) {
      int index = result_.add({name, there->info(), Origin::Fed});
      result_.live_in.push_back(index);
      return current_[name] = index;
    }
    Variable* held = scope_.find(name);
    if (held && held->has_value()) {
      if (var.persistable && static_cast<VarKind>(var.kind) == VarKind::Tensor)
        check_against(var, held->info(), "the scope's");
      bool constant = var.persistable && !program_.written.count(name);
      return current_[name] = result_.add({name, held->info(), Origin::InScope, {}, constant});
    }
    if (var.need_check_feed) {
      fail<OpError>("feed '", name, "' is missing: data ", Shape(var.dims).str(), " ",
                    name_of(static_cast<DType>(var.dtype)),
                    "; Program.prune(feeds, fetches) leaves out what the fetches do not need");
    }
    if (var.persistable)
      fail<OpError>("'", name, "' has no value in the scope: run the startup program, or load it, first");
    fail<OpError>("'", name, "' has no value: no operator before this one makes it, and it is not fed");
  }

  // Returns false if the shape of an output depends on data: the segment then ends before this operator.
  bool add_op(int index, const VerifiedOp& op) {
    if (op.schema->role() == OpRole::Feed) {
      check_feed_op(index, op);
      return true;
    }
    if (op.schema->role() == OpRole::Fetch) return true;
    RunOp run{index, {shared_, &op}, {}, {}};
    with_op_context({op.desc, index, start_.block}, [&] {
      for (const Slot& slot : op.desc.inputs) {
        run.inputs.emplace_back();
        for (const std::string& name : slot.arguments)
          run.inputs.back().push_back(name == kEmptyName ? -1 : resolve(name));
      }
    });
    auto inputs = result_.infos(run.inputs);
    bool known = true;
    with_op_context({op.desc, index, start_.block, &inputs}, [&] {
      InferContext context(op.desc, inputs);
      op.schema->run_infer(context);
      known = !context.awaits_values();
      for (const auto& slot : context.outputs())
        for (const VarInfo& info : slot) known = known && info.shape.known();
      for (size_t s = 0; s < op.desc.outputs.size() && known; ++s) {
        run.outputs.emplace_back();
        for (size_t i = 0; i < op.desc.outputs[s].arguments.size(); ++i) {
          run.outputs.back().push_back(add_output(run, op, s, i, context.outputs()[s][i]));
        }
      }
    });
    if (!known) return false;
    for (const auto& copy : run.copies_after) current_[result_.variables[copy.second].name] = copy.second;
    result_.ops.push_back(std::move(run));
    return true;
  }

  void check_feed_op(int index, const VerifiedOp& op) {
    with_op_context({op.desc, index, start_.block}, [&] {
      const std::string& name = op.desc.output("Out")[0];
      bool there = fed(name) || (start_.frame && start_.frame->find(name));
      require<OpError>(there, "feed '", name, "' is missing");
    });
  }

  int add_output(RunOp& run, const VerifiedOp& op, size_t slot, size_t i, const VarInfo& info) {
    const std::string& name = op.desc.outputs[slot].arguments[i];
    if (name == kEmptyName) return -1;
    bool persistable = program_.find(start_.block, name)->persistable;
    auto it = current_.find(name);
    int same = it == current_.end() ? -1 : it->second;
    if (same >= 0 && !(result_.variables[same].info == info)) same = -1;
    // The caller's array is never written, nor is a scope variable that is not persistable.
    if (same >= 0 && result_.variables[same].origin != Origin::Temporary && !keeps(same, persistable)) same = -1;
    // The row count of SelectedRows may change with each write, so each write gets new memory.
    if (same >= 0 && info.kind == VarKind::SelectedRows && !persistable) same = -1;
    bool read_here = same >= 0 && run.inputs.count(same) > 0;
    bool may_overwrite =
        !read_here || (info.kind != VarKind::SelectedRows && overwrites(op, run, same, op.desc.outputs[slot].name));
    if (same >= 0 && may_overwrite) return same;
    if (persistable && same >= 0) {
      int aside = result_.add({name, info, Origin::Temporary});
      run.copies_after.emplace_back(aside, same);
      return aside;
    }
    // A name in the scope has one allocation, so all kernels that use it must see the same shape. Another one in between,
    // as PaddlePaddle's initializers write, is a variable of its own.
    bool of_scope = persistable && it != current_.end() && result_.variables[it->second].origin == Origin::InScope;
    if (of_scope || set_aside_.count(name)) return add_aside(run, it->second, info, op.desc.outputs[slot].name);
    int fresh = result_.add({name, info, persistable ? Origin::InScope : Origin::Temporary});
    if (persistable) made_.insert(fresh);
    return current_[name] = fresh;
  }

  int add_aside(RunOp& run, int before, const VarInfo& info, const std::string& port) {
    const std::string name = result_.variables[before].name;
    auto left = set_aside_.find(name);
    int in_scope = left == set_aside_.end() ? before : left->second.in_scope;
    const VarInfo& held = result_.variables[in_scope].info;
    int aside = result_.add({name, info, Origin::Temporary});
    if (held == info) {
      run.copies_after.emplace_back(aside, in_scope);
      set_aside_.erase(name);
      return aside;
    }
    set_aside_[name] = {in_scope, aside, run.index, port, result_.infos(run.inputs)};
    return current_[name] = aside;
  }

  struct SetAside {
    int in_scope, variable, op;  // the variable of the scope and the one set aside, and the operator that wrote this
    std::string port;
    std::vector<std::vector<VarInfo>> inputs;
  };

  // A persistable variable has another shape than before where the segment ends. If this segment wrote the old value, too,
  // it is a temporary. One element of the scope keeps the shape that it has there.
  void settle(const SetAside& left) {
    RunVariable &before = result_.variables[left.in_scope], &after = result_.variables[left.variable];
    const VarInfo &held = before.info, &info = after.info;
    const VarDesc& declared = *program_.find(start_.block, after.name);
    if (made_.count(left.in_scope) && shapes_agree(declared_shape(declared.dims), info.shape)) {
      std::swap(before.origin, after.origin);
      return;
    }
    bool tensors = held.kind == VarKind::Tensor && info.kind == VarKind::Tensor && held.dtype == info.dtype;
    if (tensors && held.shape.numel() == 1 && info.shape.numel() == 1) {
      auto writes = [&](const RunOp& op) { return op.outputs.count(left.variable) > 0; };
      std::find_if(result_.ops.rbegin(), result_.ops.rend(), writes)
          ->copies_after.emplace_back(left.variable, left.in_scope);
      return;
    }
    with_op_context({block_.ops[left.op].desc, left.op, start_.block, &left.inputs}, [&] {
      fail<ShapeError>(left.port, " '", result_.variables[left.variable].name, "' would be ", info.str(),
                       ", but it is ", held.str(), " in this run and persistable");
    });
  }

  bool keeps(int variable, bool persistable) const {
    return result_.variables[variable].origin == Origin::InScope && persistable;
  }

  // Whether the schema allows the output to overwrite every input port that reads the variable.
  static bool overwrites(const VerifiedOp& op, const RunOp& run, int variable, const std::string& output) {
    for (size_t s = 0; s < run.inputs.size(); ++s) {
      if (std::find(run.inputs[s].begin(), run.inputs[s].end(), variable) == run.inputs[s].end()) continue;
      std::pair<std::string, std::string> pair(op.desc.inputs[s].name, output);
      auto has = [&](const auto& pairs) { return std::find(pairs.begin(), pairs.end(), pair) != pairs.end(); };
      if (!has(op.schema->in_places()) && !has(op.schema->update_pairs()) && !has(op.schema->views())) return false;
    }
    return true;
  }

  void add_fetch(const std::string& name) {
    auto it = current_.find(name);
    if (it != current_.end()) {
      result_.fetches.push_back(it->second);
      return;
    }
    const VarDesc* var = program_.find(0, name);
    require<ProgramError>(var, "fetch '", printable(name), "': the program has no such variable");
    Variable* there = start_.frame ? start_.frame->find(name) : nullptr;
    if (there && there->has_value()) {
      result_.live_in.push_back(result_.add({name, there->info(), Origin::Fed}));
      result_.fetches.push_back(result_.live_in.back());
      return;
    }
    Variable* held = scope_.find(name);
    bool has_value = held && held->has_value();
    if (!has_value && is_empty(*var)) {  // as lstsq of PaddlePaddle declares what its driver does not give
      VarInfo info;
      info.dtype = static_cast<DType>(var->dtype), info.shape = declared_shape(var->dims);
      result_.fetches.push_back(current_[name] = result_.add({name, info, Origin::Temporary}));
      return;
    }
    require<OpError>(has_value, "fetch '", name, "' has no value: no operator of this program makes it");
    result_.fetches.push_back(current_[name] = result_.add({name, held->info(), Origin::InScope}));
  }

  const std::shared_ptr<const VerifiedProgram>& shared_;
  const VerifiedProgram& program_;
  const SegmentStart& start_;
  const VerifiedBlock& block_;
  const Scope& scope_;
  Segment result_;
  std::unordered_map<std::string, int> current_;  // the RunVariable of each name at this point
  std::unordered_set<int> made_;  // variables of the scope that this segment writes before it reads them
  std::map<std::string, SetAside> set_aside_;  // persistable variables that have another shape at this point
};

}  // namespace

Segment infer(const std::shared_ptr<const VerifiedProgram>& program, const SegmentStart& start, const Scope& scope) {
  return Inference(program, start, scope).run();
}

}  // namespace paddle_mini
