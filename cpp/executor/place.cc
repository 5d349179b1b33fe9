// Assigns a device and a kernel to each operator.
#include "executor/place.h"

#include <iostream>
#include <map>

#include "executor/kernel_dtypes.h"
#include "executor/op_context.h"

namespace paddle_mini {
namespace {

Place wanted_place(const OpDesc& op, const Place& default_value) {
  const AttrValue* device = op.attr("op_device");
  const std::string* spelling = device ? std::get_if<std::string>(device) : nullptr;
  return spelling && !spelling->empty() ? parse_place(*spelling) : default_value;
}

bool has_rows(const std::vector<std::vector<VarInfo>>& ports) {
  for (const auto& slot : ports)
    for (const VarInfo& info : slot)
      if (info.kind == VarKind::SelectedRows) return true;
  return false;
}

// The reason why the operator can't run on this GPU: "no kernel on gpu:0: it walks sequences"; or "".
std::string missing_on(const Place& place, const OpSchema& schema, const OpSchema* there, DType dtype, bool rows) {
  std::string none = "no kernel on " + name_of(place) + ": ";
  if (rows) return none + "only the CPU has kernels for selected rows";
  if (!there)
    return none +
           (schema.cpu_only_reason().empty() ? "the library of kernels for GPUs lacks it" : schema.cpu_only_reason());
  if (there->kernel(dtype)) return "";
  return text("no kernel for ", name_of(dtype), " on ", name_of(place), ": there are kernels for ",
              list_kernel_dtypes(*there));
}

PlacedKernel place_op(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                      const std::vector<std::vector<VarInfo>>& outputs, const Placement& placement) {
  PlacedKernel on_host = place_on_host(op, inputs, outputs);
  Place place = wanted_place(op.desc, placement.place);
  if (place.is_cpu()) return on_host;
  const OpTable& operators = placement.manager.at(place).device->operators();
  if (&operators == &placement.manager.operators()) return {place, on_host.make};
  const OpSchema* there = operators.find(op.desc.type);
  DType dtype = op.schema->kernel_dtype(op.desc, inputs, outputs);
  std::string missing = missing_on(place, *op.schema, there, dtype, has_rows(inputs) || has_rows(outputs));
  if (missing.empty()) return {place, there->kernel(dtype)};
  require<DeviceError>(placement.cpu_fallback, missing,
                       "; there is one on cpu. Set op_device to \"cpu\" (device_guard), or let the executor do that: "
                       "allow_cpu_fallback=True");
  return on_host;
}

}  // namespace

bool runs_host_kernels(const OpDesc& op, const Placement& placement) {
  const Place place = wanted_place(op, placement.place);
  return place.is_cpu() || &placement.manager.at(place).device->operators() == &placement.manager.operators();
}

PlacedKernel place_on_host(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                           const std::vector<std::vector<VarInfo>>& outputs) {
  DType dtype = op.schema->kernel_dtype(op.desc, inputs, outputs);
  KernelFactory make = op.schema->kernel(dtype);
  require<OpError>(make, "no kernel for ", name_of(dtype), " on cpu; there are kernels for ",
                   list_kernel_dtypes(*op.schema));
  return {Place{}, make};
}

Segment place_operators(Segment segment, const Placement& placement) {
  std::map<std::string, int> moved;
  for (RunOp& op : segment.ops) {
    auto inputs = segment.infos(op.inputs);
    with_op_context({op.desc(), op.index, segment.block, &inputs}, [&] {
      PlacedKernel placed = place_op(*op.op, inputs, segment.infos(op.outputs), placement);
      op.place = placed.place;
      op.make = placed.make;
    });
    if (op.place != wanted_place(op.desc(), placement.place)) ++moved[op.desc().type];
  }
  if (moved.empty()) return segment;
  std::string list;
  for (const auto& [type, count] : moved) list += text(list.empty() ? "" : ", ", type, " x ", count);
  std::cerr << "paddle_mini: operators without kernel on " << name_of(placement.place) << " run on the cpu: " << list
            << "\n";
  return segment;
}

}  // namespace paddle_mini
