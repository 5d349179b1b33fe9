// Finds the last step that may reject its data.
#include "executor/undo_plan.h"

#include <algorithm>
#include <set>

#include "core/user_code.h"

namespace paddle_mini {
namespace {

bool holds_gradient(const std::string& port) {
  size_t at = port.rfind(kGradSuffix);
  return at != std::string::npos && port.substr(at) == kGradSuffix;
}

// Whether `op` is a gradient operator that the schema of `forward` generates.
bool is_gradient_of(const VerifiedOp& op, const VerifiedOp& forward) {
  auto values = [](const OpDesc& desc) {
    std::map<std::string, std::vector<std::string>> ports;
    for (const Slot& slot : desc.inputs)
      if (!holds_gradient(slot.name)) ports[slot.name] = slot.arguments;
    return ports;
  };
  if (!forward.schema->has_gradient()) return false;
  for (const OpDesc& made : forward.schema->make_gradient(forward.desc)) {
    bool same = made.type == op.desc.type && values(made) == values(op.desc);
    for (const AttrSchema& attr : op.schema->attrs()) {
      const AttrValue* value = made.attr(attr.name);
      same = same && value && *value == *op.desc.attr(attr.name);
    }
    if (same) return true;
  }
  return false;
}

// Whether an earlier step is the forward operator of this gradient step and has already accepted the data that this
// step checks.
bool accepted_before(const std::vector<Step>& steps, int at) {
  const RunOp& op = *steps[at].op;
  std::set<int> read;
  for (size_t s = 0; s < op.inputs.size(); ++s) {
    const std::string& port = op.desc().inputs[s].name;
    if (holds_gradient(port) || op.schema().reads_only_shape(port)) continue;
    read.insert(op.inputs[s].begin(), op.inputs[s].end());
  }
  while (--at >= 0) {
    const RunOp& other = *steps[at].op;
    bool forward = steps[at].may_fail_validation() && is_gradient_of(*op.op, *other.op), changed = false;
    steps[at].each_write([&](int v) {  // the gradient may read results of its forward operator
      bool made = forward && other.inputs.count(v) == 0;
      changed = changed || (read.count(v) && !made);
    });
    if (forward || changed) return !changed;
  }
  return false;
}

// On devices a forward operator's error may arrive after its gradient has started, so both are waited for.
int last_step_that_may_refuse(const std::vector<Step>& steps, bool on_devices) {
  for (int i = static_cast<int>(steps.size()) - 1; i >= 0; --i) {
    if (!steps[i].may_fail_validation()) continue;
    bool is_user_code = dynamic_cast<const UserCode*>(steps[i].kernel.get()) != nullptr;
    if (on_devices || is_user_code || !accepted_before(steps, i)) return i;
  }
  return -1;
}

}  // namespace

UndoPlan plan_undo(const Binding& binding, const UndoLog& undo, const std::vector<Step>& steps, bool on_devices,
                   bool late) {
  UndoPlan plan;
  plan.stoppable = plan.stoppable_at_first = steps.size();
  int end = last_step_that_may_refuse(steps, on_devices) + (late ? 1 : 0);
  std::set<Variable*> saved, written;
  for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
    steps[i].each_write([&](int v) {
      Variable* variable = binding.in_scope(v);
      if (!variable) return;
      if (written.insert(variable).second) plan.written.push_back(variable);
      size_t at = static_cast<size_t>(i);
      if (i < end) {
        if (saved.insert(variable).second) plan.saved.push_back(variable);
      } else if (!saved.count(variable)) {
        plan.stoppable = std::min(plan.stoppable, at);
        if (!undo.has_created(variable)) plan.stoppable_at_first = std::min(plan.stoppable_at_first, at);
      }
    });
  }
  return plan;
}

}  // namespace paddle_mini
