// Finds the last step that may reject its data.
#include "executor/undo_plan.h"

#include <algorithm>
#include <set>

#include "core/user_code.h"

namespace paddle_mini {
namespace {

// Whether `op` is a gradient operator that the schema of `forward` generates.
bool is_gradient_of(const VerifiedOp& op, const VerifiedOp& forward) {
  auto values = [](const OpDesc& desc) {
    std::map<std::string, std::vector<std::string>> ports;
    for (const Slot& slot : desc.inputs)
      if (!is_gradient_port(slot.name)) ports[slot.name] = slot.arguments;
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

// Whether `op` checks what `other` checks: the same input, against the same attributes and shapes.
bool checks_alike(const RunOp& op, const RunOp& other, const Binding& binding) {
  const std::string& port = op.schema().checked_port();
  if (port.empty() || &other.schema() != &op.schema() || other.inputs.size() != op.inputs.size()) return false;
  for (const AttrSchema& attr : op.schema().attrs()) {
    if (!(*op.desc().attr(attr.name) == *other.desc().attr(attr.name))) return false;
  }
  auto shape = [&](int v) { return v < 0 ? Shape() : binding.variable(v)->tensor.shape; };
  for (size_t s = 0; s < op.inputs.size(); ++s) {
    if (op.desc().inputs[s].name != other.desc().inputs[s].name || op.inputs[s].size() != other.inputs[s].size())
      return false;
    for (size_t i = 0; i < op.inputs[s].size(); ++i) {
      const int v = op.inputs[s][i], w = other.inputs[s][i];
      if (v != w && (op.desc().inputs[s].name == port || shape(v) != shape(w))) return false;
    }
  }
  return true;
}

// The variables whose values decide whether an operator rejects its data.
std::set<int> checked_variables(const RunOp& op) {
  std::set<int> checked;
  for (size_t s = 0; s < op.inputs.size(); ++s) {
    const std::string& port = op.desc().inputs[s].name;
    const std::string& only = op.schema().checked_port();
    if (only.empty() ? is_gradient_port(port) || op.schema().reads_only_shape(port) : port != only) continue;
    checked.insert(op.inputs[s].begin(), op.inputs[s].end());
  }
  return checked;
}

// Whether an earlier step has accepted the data that this step checks: the forward operator of this gradient step, or a
// step that checks it in the same way.
bool accepted_before(const std::vector<Step>& steps, int at, const Binding& binding) {
  const RunOp& op = *steps[at].op;
  const std::set<int> checked = checked_variables(op);
  while (--at >= 0) {
    const RunOp& other = *steps[at].op;
    const bool may_fail = steps[at].may_fail_validation();
    const bool is_forward = may_fail && is_gradient_of(*op.op, *other.op);
    bool changed = false;
    steps[at].each_write([&](int v) {  // the gradient may read results of its forward operator
      bool made = is_forward && other.inputs.count(v) == 0;
      changed = changed || (checked.count(v) && !made);
    });
    if (changed) return false;
    if (is_forward || (may_fail && checks_alike(op, other, binding))) return true;
  }
  return false;
}

// On devices a forward operator's error may arrive after its gradient has started, so both are waited for.
int last_step_that_may_refuse(const std::vector<Step>& steps, const Binding& binding, bool on_devices) {
  for (int i = static_cast<int>(steps.size()) - 1; i >= 0; --i) {
    if (!steps[i].may_fail_validation()) continue;
    bool is_user_code = dynamic_cast<const UserCode*>(steps[i].kernel.get()) != nullptr;
    if (on_devices || is_user_code || !accepted_before(steps, i, binding)) return i;
  }
  return -1;
}

}  // namespace

UndoPlan plan_undo(const Binding& binding, const UndoLog& undo, const std::vector<Step>& steps, bool on_devices,
                   bool late) {
  UndoPlan plan;
  plan.stoppable = plan.stoppable_at_first = steps.size();
  int end = last_step_that_may_refuse(steps, binding, on_devices) + (late ? 1 : 0);
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
