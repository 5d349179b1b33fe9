// From a segment to steps. Their kernels are made in plan_steps.cc, their memory is given in
// plan_binding.cc, the loop itself is run.cc.
#include "executor/plan.h"

#include <algorithm>
#include <set>

namespace paddle_mini {
namespace {

bool holds_gradient(const std::string& port) {
  size_t at = port.rfind(kGradSuffix);
  return at != std::string::npos && port.substr(at) == kGradSuffix;
}

// Whether `op` is what the record of `forward` makes of it.
bool is_gradient_of(const VerifiedOp& op, const VerifiedOp& forward) {
  auto values = [](const OpDesc& desc) {
    std::map<std::string, std::vector<std::string>> ports;
    for (const Slot& slot : desc.inputs) if (!holds_gradient(slot.name)) ports[slot.name] = slot.arguments;
    return ports;
  };
  if (!forward.spec->has_gradient()) return false;
  for (const OpDesc& made : forward.spec->make_gradient(forward.desc)) {
    bool same = made.type == op.desc.type && values(made) == values(op.desc);
    for (const AttrSpec& attr : op.spec->attrs()) {
      const AttrValue* value = made.attr(attr.name);
      same = same && value && *value == *op.desc.attr(attr.name);
    }
    if (same) return true;
  }
  return false;
}

}  // namespace

Plan::Plan(Segment segment, const Placement& placement, Scope& scope, std::shared_ptr<Arenas> arenas)
    : segment_(std::move(segment)), placement_(placement), arenas_(std::move(arenas)), scope_(&scope) {
  bool on_devices = std::any_of(segment_.ops.begin(), segment_.ops.end(), [](const RunOp& op) { return !op.place.is_cpu(); });
  try {
    bind_scope(scope);
    make_steps();
    plan_undo(on_devices);
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
  return step.count == 1 && step.lane == Lane::Compute && step.op->spec().may_refuse_data() && step.kernel->may_refuse();
}

// Whether a step before is the operator whose gradient this step is, and has accepted the data that this step checks.
bool Plan::accepted_before(int at) const {
  const RunOp& op = *steps_[at].op;
  std::set<int> read;
  for (size_t s = 0; s < op.inputs.size(); ++s) {
    const std::string& port = op.desc().inputs[s].name;
    if (holds_gradient(port) || op.spec().reads_only_shape(port)) continue;
    read.insert(op.inputs[s].begin(), op.inputs[s].end());
  }
  while (--at >= 0) {
    const RunOp& other = *steps_[at].op;
    bool forward = may_refuse(steps_[at]) && is_gradient_of(*op.op, *other.op), changed = false;
    each_write(steps_[at], [&](int v) {  // what the operator has made its gradient may read
      bool made = forward && std::none_of(other.inputs.begin(), other.inputs.end(), [v](const auto& slot) {
        return std::find(slot.begin(), slot.end(), v) != slot.end();
      });
      changed = changed || (read.count(v) && !made);
    });
    if (forward || changed) return !changed;
  }
  return false;
}

// On devices the answer of an operator comes late, when its gradient may have been at work too: both are waited for.
int Plan::last_step_that_may_refuse(bool on_devices) const {
  for (int i = static_cast<int>(steps_.size()) - 1; i >= 0; --i) {
    if (may_refuse(steps_[i]) && (on_devices || !accepted_before(i))) return i;
  }
  return -1;
}

// Values of the scope that are written before the last step that can still refuse the data are kept, so that a refusal
// leaves the scope as it was. The rest of the run can't fail. What that step itself writes is not touched when it
// refuses, but where that comes to light later, as on a device, or in another replica.
void Plan::plan_undo(bool on_devices) {
  for (const RunOp& op : segment_.ops) {
    op.outputs.each([&](int v) { note_written(v); });
    for (const auto& copy : op.copies_after) note_written(copy.second);
  }
  int last = last_step_that_may_refuse(on_devices), end = last + (on_devices || placement_.replicated ? 1 : 0);
  std::set<Variable*> kept, made;
  for (const Made& one : made_) made.insert(scope_->find(one.name));
  stoppable_steps_ = stoppable_at_first_ = steps_.size();
  for (int i = 0; i < static_cast<int>(steps_.size()); ++i) {
    each_write(steps_[i], [&](int v) {
      if (segment_.variables[v].origin != Origin::InScope) return;
      if (i < end) {
        if (kept.insert(held_[v]).second) backups_.emplace_back(held_[v]);
      } else if (!kept.count(held_[v])) {
        stoppable_steps_ = std::min(stoppable_steps_, static_cast<size_t>(i));
        if (!made.count(held_[v])) stoppable_at_first_ = std::min(stoppable_at_first_, static_cast<size_t>(i));
      }
    });
  }
}

void Plan::note_written(int v) {
  if (segment_.variables[v].origin != Origin::InScope) return;
  if (std::find(written_.begin(), written_.end(), held_[v]) == written_.end()) written_.push_back(held_[v]);
}

bool Plan::fits(const Scope& scope) const {
  if (generation_ == scope.generation()) return true;
  for (size_t v = 0; v < held_.size(); ++v) {
    const RunVariable& run = segment_.variables[v];
    if (run.origin != Origin::InScope) continue;
    Variable* held = scope.find(run.name);
    if (held != held_[v] || !held->has_value() || !fits(*held, run.info)) return false;
  }
  generation_ = scope.generation();
  return true;
}

bool Plan::fits(Frame& frame) const {
  for (int v : segment_.live_in) {
    const Variable* there = frame.find(segment_.variables[v].name);
    if (!there || !there->has_value() || !fits(*there, segment_.variables[v].info)) return false;
  }
  return true;
}

size_t Plan::own_bytes() const {
  constexpr size_t kVariable = 600, kStep = 1200, kFlow = size_t{1} << 20;  // with names, kernels and queues; measured by malloc
  size_t bytes = sizeof(Plan) + segment_.variables.size() * kVariable + steps_.size() * kStep + (flow_ ? kFlow : 0);
  for (const RunVariable& variable : segment_.variables) {  // as it was inferred, and as kernels are given it
    for (const auto& level : variable.info.lod) bytes += 2 * level.size() * sizeof(level[0]);
  }
  for (const Backup& backup : backups_) bytes += backup.kept.bytes();
  for (const auto& [place, memory] : staging_) bytes += memory.second;
  return bytes;
}

// Without making a VarInfo, which may hold long lists.
bool Plan::fits(const Variable& there, const VarInfo& info) {
  if (there.is_rows() || info.kind == VarKind::SelectedRows) return there.info() == info;
  return there.kind == info.kind && there.tensor.dtype == info.dtype && there.tensor.shape == info.shape &&
         there.tensor.lod == info.lod;
}

bool Plan::fits(const std::vector<Tensor>& feeds) const {
  if (feeds.size() != segment_.feeds.size()) return false;
  for (size_t i = 0; i < feeds.size(); ++i) {
    const Tensor& planned = variables_[segment_.feeds[i]]->tensor;
    if (feeds[i].dtype != planned.dtype || feeds[i].shape != planned.shape || feeds[i].lod != planned.lod) return false;
  }
  return true;
}

}  // namespace paddle_mini
