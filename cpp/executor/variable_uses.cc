// Counts the uses of variables, and what passes that replace operators have in common.
#include "executor/variable_uses.h"

namespace paddle_mini {

std::vector<VariableUse> find_variable_uses(const Segment& segment) {
  std::vector<VariableUse> uses(segment.variables.size());
  for (size_t i = 0; i < segment.ops.size(); ++i) {
    auto read = [&](int v) { ++uses[v].reads, uses[v].reader = static_cast<int>(i); };
    auto write = [&](int v) { ++uses[v].writes, uses[v].writer = static_cast<int>(i); };
    segment.ops[i].inputs.each(read);
    segment.ops[i].outputs.each(write);
    for (const auto& [from, to] : segment.ops[i].copies_after) read(from), write(to);
  }
  for (const auto* needed : {&segment.fetches, &segment.live_out})
    for (int v : *needed) uses[v].is_needed = true;
  return uses;
}

bool runs_on_host(const Segment& segment, const Placement& placement) {
  if (!placement.place.is_cpu()) return false;
  for (const RunOp& op : segment.ops) {
    const AttrValue* device = op.desc().attr("op_device");
    const std::string* name = device ? std::get_if<std::string>(device) : nullptr;
    if (name && !name->empty() && *name != "cpu") return false;
  }
  return true;
}

bool may_replace_operators(const Segment& segment, const Placement& placement) {
  return segment.reads_only && !placement.replicated && runs_on_host(segment, placement);
}

RunOp replacement_of(const RunOp& of, const OpTable& operators, OpDesc desc, Ports inputs, Ports outputs) {
  const OpSchema& schema = operators.at(desc.type);
  for (const char* name : {"op_callstack", "op_device"})
    if (const AttrValue* value = of.desc().attr(name)) desc.set_attr(name, *value);
  schema.complete(desc);
  return {of.index, std::make_shared<VerifiedOp>(VerifiedOp{&schema, std::move(desc)}), std::move(inputs),
          std::move(outputs)};
}

bool is_link(const Segment& segment, const std::vector<VariableUse>& uses, int v) {
  const RunVariable& variable = segment.variables[v];
  const VariableUse& use = uses[v];
  return variable.origin == Origin::Temporary && variable.info.kind == VarKind::Tensor && use.writes == 1 &&
         use.reads == 1 && !use.is_needed;
}

bool is_stable(const Segment& segment, const std::vector<VariableUse>& uses, int v) {
  const RunVariable& variable = segment.variables[v];
  const int writes = variable.origin == Origin::Temporary || variable.origin == Origin::Derived ? 1 : 0;
  return variable.info.kind == VarKind::Tensor && uses[v].writes == writes;
}

}  // namespace paddle_mini
