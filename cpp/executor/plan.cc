// Stage 5: from placed operators to steps. The loop itself is run.cc.
#include "executor/plan.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "executor/fuse.h"
#include "executor/site.h"

namespace paddle_mini {
namespace {

// Copies a variable: for outputs that are computed aside.
class CopyKernel : public Kernel {
 public:
  CopyKernel(Variable* from, Variable* to) : from_(from), to_(to) {}
  void run(Device&) override {
    if (from_->is_rows()) to_->set_rows(from_->rows);
    std::memcpy(to_->tensor.data, from_->tensor.data, to_->tensor.bytes());
  }

 private:
  Variable *from_, *to_;
};

}  // namespace

void PartsKernel::run(Device& device) {
  // Arrays that come from memory do best in short turns: the processor follows each of them for some lines, and up to
  // six at once. Those that lie in a cache need only few calls.
  int64_t part = elements_ > 1 << 16 ? 256 : 2048;
  for (int64_t begin = 0; begin < elements_; begin += part) {
    int64_t end = std::min(begin + part, elements_);
    for (at_ = 0; at_ < kernels_.size(); ++at_) kernels_[at_]->run_part(device, begin, end);
  }
}

Plan::Plan(InferredProgram inferred, const Place& place, Scope& scope, std::shared_ptr<Arena> arena)
    : inferred_(std::move(inferred)), arena_(std::move(arena)), scope_(&scope) {
  std::vector<PlacedOp> placed = place_ops(inferred_, place);
  fuse(inferred_, placed);
  try {
    bind_scope(scope);
    make_kernels(placed);
    plan_undo();
  } catch (...) {
    unbind();
    throw;
  }
  generation_ = scope.generation();
}

Plan::~Plan() = default;

void Plan::bind_scope(Scope& scope) {
  std::set<int> written;
  for (const RunOp& op : inferred_.ops) {
    for (const auto& slot : op.outputs) written.insert(slot.begin(), slot.end());
  }
  std::vector<Variable*> fresh;
  for (size_t v = 0; v < inferred_.variables.size(); ++v) {
    const RunVariable& run = inferred_.variables[v];
    if (run.origin != Origin::InScope) {
      own_.emplace_back();
      own_.back().describe(run.info);
      variables_.push_back(&own_.back());
      continue;
    }
    Variable* held = scope.find(run.name);
    bool fits = held && held->has_value() && held->info() == run.info;
    if (!fits) {
      require<OpError>(written.count(static_cast<int>(v)), "'", run.name, "' has no value in the scope");
      made_.push_back({run.name, held ? std::make_unique<Variable>(*held) : nullptr});
      held = &scope.create(run.name);
      *held = Variable();
      held->describe(run.info);
      fresh.push_back(held);
      scope.changed();
    }
    variables_.push_back(held);
  }
  give_memory(fresh);
  for (size_t v = 0; v < variables_.size(); ++v) {
    bool kept = inferred_.variables[v].origin == Origin::InScope && variables_[v]->is_rows();
    if (kept) kept_rows_.emplace_back(variables_[v], variables_[v]->rows.size());
  }
}

// Variables that one program makes live as long as each other, so they get one block: many of them
// together fill large pages (memory.cc) that each alone is too small for.
void Plan::give_memory(const std::vector<Variable*>& variables) {
  size_t total = 0;
  for (Variable* variable : variables) total = checked_sum(total, aligned(variable->tensor.bytes()));
  std::shared_ptr<void> block = allocate(total);
  char* next = static_cast<char*>(block.get());
  for (Variable* variable : variables) {
    variable->tensor.memory = std::shared_ptr<void>(block, next);
    variable->tensor.data = next;
    next += aligned(variable->tensor.bytes());
  }
}

void Plan::make_kernels(const std::vector<PlacedOp>& placed) {
  constexpr int kSmallSteps = 64;         // so many small operators take some microseconds
  constexpr size_t kLargeBytes = 1 << 16;
  std::vector<std::vector<Variable*>> scratches;
  int since_poll = 0;
  for (size_t i = 0; i < inferred_.ops.size(); ++i) {
    const RunOp& op = inferred_.ops[i];
    size_t most = 0;
    auto resolve = [&](const std::vector<std::vector<int>>& ports) {
      std::vector<std::vector<Variable*>> result;
      for (const auto& slot : ports) {
        result.emplace_back();
        for (int v : slot) {
          result.back().push_back(v < 0 ? nullptr : variables_[v]);
          if (v >= 0) most = std::max(most, variables_[v]->tensor.bytes());
        }
      }
      return result;
    };
    auto inputs = infos_of(inferred_, op.inputs);
    at_op({op.op->desc, op.index, inferred_.block, &inputs}, [&] {
      KernelInit init(op.op->desc, resolve(op.inputs), resolve(op.outputs));
      std::unique_ptr<Kernel> kernel = placed[i].make(init);
      if (op.joined) join_to_last_step(op, std::move(kernel));
      else steps_.push_back({std::move(kernel), &op});
      scratches.emplace_back();
      for (Variable& scratch : init.scratches()) scratches.back().push_back(&scratch);
      scratches_.push_back(init.share_scratches());
    });
    for (const auto& [from, to] : op.copies_after) {
      steps_.push_back({std::make_unique<CopyKernel>(variables_[from], variables_[to]), &op});
    }
    if (most >= kLargeBytes || ++since_poll >= kSmallSteps) {
      steps_.back().poll = true;
      since_poll = 0;
    }
  }
  assign_memory(scratches);
}

void Plan::join_to_last_step(const RunOp& op, std::unique_ptr<Kernel> kernel) {
  Step& step = steps_.back();
  if (!step.parts) {
    int64_t elements = 0;
    for (const auto& slot : op.outputs) for (int v : slot) if (v >= 0) elements = std::max(elements, inferred_.variables[v].info.shape.numel());
    auto parts = std::make_unique<PartsKernel>(elements);
    parts->add(std::move(step.kernel));
    step.parts = parts.get();
    step.kernel = std::move(parts);
  }
  step.parts->add(std::move(kernel));
  ++step.count;
}

void Plan::assign_memory(const std::vector<std::vector<Variable*>>& scratches) {
  Sharing sharing = share_memory(inferred_);
  std::vector<Lifetime> lifetimes = sharing.lifetimes;
  for (size_t i = 0; i < scratches.size(); ++i) {
    for (Variable* scratch : scratches[i]) lifetimes.push_back({static_cast<int>(i), static_cast<int>(i), scratch->tensor.bytes()});
  }
  MemoryPlan memory = plan_memory(lifetimes);
  arena_bytes_ = memory.arena_bytes;
  offsets_.assign(inferred_.variables.size(), 0);
  for (size_t v = 0; v < inferred_.variables.size(); ++v) {
    if (inferred_.variables[v].origin != Origin::Temporary || is_carried(v)) continue;
    offsets_[v] = memory.offsets[sharing.share[v]];
    in_arena_.emplace_back(variables_[v], offsets_[v]);
  }
  size_t next = inferred_.variables.size();
  for (const auto& list : scratches) {
    for (Variable* scratch : list) in_arena_.emplace_back(scratch, memory.offsets[next++]);
  }
  bind_arena();
}

// The arena may have grown, and moved, for another plan.
void Plan::bind_arena() {
  arena_->reserve(arena_bytes_);
  if (bound_ == arena_->data()) return;
  bound_ = arena_->data();
  for (auto& [variable, offset] : in_arena_) variable->tensor.data = bound_ + offset;
}

int Plan::last_step_that_may_refuse() const {
  for (int i = static_cast<int>(steps_.size()) - 1; i >= 0; --i) {
    if (steps_[i].count == 1 && steps_[i].op->op->spec->may_refuse_data() && steps_[i].kernel->may_refuse()) return i;
  }
  return -1;
}

// Values of the scope that are written before the last step that can still refuse the data are
// kept, so that a refusal leaves the scope as it was. The rest of the run can't fail.
void Plan::plan_undo() {
  for (const RunOp& op : inferred_.ops) {
    for (const auto& slot : op.outputs) for (int v : slot) note_written(v);
    for (const auto& copy : op.copies_after) note_written(copy.second);
  }
  int last = last_step_that_may_refuse();
  std::set<Variable*> kept;
  stoppable_steps_ = steps_.size();
  for (int i = 0; i < static_cast<int>(steps_.size()); ++i) {
    auto note = [&](int v) {
      if (v < 0 || inferred_.variables[v].origin != Origin::InScope) return;
      if (i <= last) {
        if (kept.insert(variables_[v]).second) backups_.push_back({variables_[v], allocate(variables_[v]->tensor.bytes()), {}});
      } else if (!kept.count(variables_[v])) {
        stoppable_steps_ = std::min(stoppable_steps_, static_cast<size_t>(i));
      }
    };
    for (const RunOp& op : steps_[i]) {
      for (const auto& slot : op.outputs) for (int v : slot) note(v);
      for (const auto& copy : op.copies_after) note(copy.second);
    }
  }
}

void Plan::note_written(int v) {
  if (v < 0 || inferred_.variables[v].origin != Origin::InScope) return;
  if (std::find(written_.begin(), written_.end(), variables_[v]) == written_.end()) written_.push_back(variables_[v]);
}

bool Plan::fits(const Scope& scope) const {
  if (generation_ == scope.generation()) return true;
  for (size_t v = 0; v < variables_.size(); ++v) {
    const RunVariable& run = inferred_.variables[v];
    if (run.origin != Origin::InScope) continue;
    Variable* held = scope.find(run.name);
    if (held != variables_[v] || !held->has_value() || !fits(*held, run.info)) return false;
  }
  generation_ = scope.generation();
  return true;
}

bool Plan::fits(Frame& frame) const {
  for (int v : inferred_.captured) {
    const Variable* there = frame.find(inferred_.variables[v].name);
    if (!there || !there->has_value() || !fits(*there, inferred_.variables[v].info)) return false;
  }
  return true;
}

// Without making a VarInfo, which may hold long lists.
bool Plan::fits(const Variable& there, const VarInfo& info) {
  if (there.is_rows() || info.kind == VarKind::SelectedRows) return there.info() == info;
  return there.kind == info.kind && there.tensor.dtype == info.dtype && there.tensor.shape == info.shape &&
         there.tensor.lod == info.lod;
}

bool Plan::is_carried(size_t v) const {
  return std::binary_search(inferred_.carried.begin(), inferred_.carried.end(), static_cast<int>(v));
}

bool Plan::fits(const std::vector<Tensor>& feeds) const {
  if (feeds.size() != inferred_.feeds.size()) return false;
  for (size_t i = 0; i < feeds.size(); ++i) {
    const Tensor& planned = variables_[inferred_.feeds[i]]->tensor;
    if (feeds[i].dtype != planned.dtype || feeds[i].shape != planned.shape || feeds[i].lod != planned.lod) return false;
  }
  return true;
}

}  // namespace paddle_mini
