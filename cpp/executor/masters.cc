// Rewrites each step with a master parameter as: Grad to float32, the step on the master, the master to Param.
#include "executor/masters.h"

#include <utility>

#include "core/master_parameter.h"
#include "executor/widen.h"

namespace paddle_mini {
namespace {

const std::vector<int>& port_of(const std::vector<Slot>& slots, const Ports& ports, const char* name) {
  for (size_t s = 0; s < slots.size(); ++s) {
    if (slots[s].name == name) return ports[s];
  }
  fail<ProgramError>("port ", name, " is missing");
}

Ports ports_on_master(const std::vector<Slot>& slots, const Ports& ports, const char* param, const char* master) {
  Ports result;
  for (size_t s = 0; s < slots.size(); ++s) {
    if (slots[s].name == param) result.push_back(port_of(slots, ports, master));
    else if (slots[s].name != master) result.push_back(ports[s]);
  }
  return result;
}

}  // namespace

Segment update_masters(Segment segment, const Placement& placement) {
  const OpSchema& cast = placement.manager.operators().at("cast");
  std::vector<RunOp> ops = std::exchange(segment.ops, {});
  for (RunOp& op : ops) {
    if (!has_master(op.desc())) {
      segment.ops.push_back(std::move(op));
      continue;
    }
    std::shared_ptr<const VerifiedOp> whole = op.op;
    const std::vector<int> params = port_of(whole->desc.outputs, op.outputs, "ParamOut");
    const std::vector<int> masters = port_of(whole->desc.outputs, op.outputs, "MasterParamOut");
    op.inputs = ports_on_master(whole->desc.inputs, op.inputs, "Param", "MasterParam");
    op.outputs = ports_on_master(whole->desc.outputs, op.outputs, "ParamOut", "MasterParamOut");
    op.op = std::make_shared<VerifiedOp>(VerifiedOp{whole->schema, step_on_master(whole->desc), whole->is_control});
    for (size_t s = 0; s < op.inputs.size(); ++s) {
      if (op.desc().inputs[s].name != "Grad") continue;
      for (int& port : op.inputs[s]) {
        int grad = port;
        if (segment.variables[grad].info.dtype == DType::Float32) continue;
        RunVariable wide{segment.variables[grad].name, segment.variables[grad].info, Origin::Temporary};
        wide.info.dtype = DType::Float32;
        port = segment.add(std::move(wide));
        segment.ops.push_back(cast_beside(segment, cast, op, grad, port));
      }
    }
    auto copies_after = std::exchange(op.copies_after, {});
    segment.ops.push_back(op);
    for (size_t i = 0; i < params.size(); ++i) {
      segment.ops.push_back(cast_beside(segment, cast, op, masters[i], params[i]));
    }
    segment.ops.back().copies_after = std::move(copies_after);
  }
  return segment;
}

}  // namespace paddle_mini
