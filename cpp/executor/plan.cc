// Stage 5: from placed operators to steps. Their kernels are made in plan_steps.cc, their memory is given in
// plan_binding.cc, the loop itself is run.cc.
#include "executor/plan.h"

#include <algorithm>
#include <set>

#include "executor/fuse.h"

namespace paddle_mini {

Plan::Plan(InferredProgram inferred, const Placement& placement, Scope& scope, std::shared_ptr<Arenas> arenas)
    : inferred_(std::move(inferred)), placement_(placement), arenas_(std::move(arenas)), scope_(&scope) {
  std::vector<PlacedOp> placed = place_ops(inferred_, placement_);
  fuse(inferred_, placed, placement_);
  bool on_devices = std::any_of(placed.begin(), placed.end(), [](const PlacedOp& op) { return !op.place.is_cpu(); });
  try {
    bind_scope(scope);
    make_steps(placed);
    plan_undo();
    if (on_devices) make_flow();
  } catch (...) {
    unbind();
    throw;
  }
  generation_ = scope.generation();
}

// What the flow failed with, nobody waited for: the next one to look at the scope is told.
Plan::~Plan() {
  if (!flow_) return;
  try {
    settle();
  } catch (...) {
    scope_->fail_later(std::current_exception());
  }
  if (scope_->pending() == this) scope_->set_pending(nullptr);
}

bool Plan::may_refuse(const Step& step) const {
  return step.count == 1 && step.lane == Lane::Compute && step.op->op->spec->may_refuse_data() && step.kernel->may_refuse();
}

int Plan::last_step_that_may_refuse() const {
  for (int i = static_cast<int>(steps_.size()) - 1; i >= 0; --i) {
    if (may_refuse(steps_[i])) return i;
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
    each_write(steps_[i], [&](int v) {
      if (inferred_.variables[v].origin != Origin::InScope) return;
      if (i <= last) {
        if (kept.insert(held_[v]).second) backups_.emplace_back(held_[v]);
      } else if (!kept.count(held_[v])) {
        stoppable_steps_ = std::min(stoppable_steps_, static_cast<size_t>(i));
      }
    });
  }
}

void Plan::note_written(int v) {
  if (v < 0 || inferred_.variables[v].origin != Origin::InScope) return;
  if (std::find(written_.begin(), written_.end(), held_[v]) == written_.end()) written_.push_back(held_[v]);
}

bool Plan::fits(const Scope& scope) const {
  if (generation_ == scope.generation()) return true;
  for (size_t v = 0; v < held_.size(); ++v) {
    const RunVariable& run = inferred_.variables[v];
    if (run.origin != Origin::InScope) continue;
    Variable* held = scope.find(run.name);
    if (held != held_[v] || !held->has_value() || !fits(*held, run.info)) return false;
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
