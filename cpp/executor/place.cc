// Stage 3: device, dtype and kernel of each operator.
#include "executor/place.h"

#include "executor/site.h"

namespace paddle_mini {
namespace {

Place wanted_place(const OpDesc& op, const Place& preset) {
  const AttrValue* device = op.attr("op_device");
  const std::string* spelling = device ? std::get_if<std::string>(device) : nullptr;
  return spelling && !spelling->empty() ? parse_place(*spelling) : preset;
}

std::string list_dtypes(const OpSpec& spec) {
  std::string list;
  for (DType dtype : spec.kernel_dtypes()) list += text(list.empty() ? "" : ", ", name_of(dtype));
  return list;
}

}  // namespace

PlacedOp place_op(const VerifiedOp& op, const std::vector<std::vector<VarInfo>>& inputs,
                  const std::vector<std::vector<VarInfo>>& outputs, const Place& preset) {
  Place place = wanted_place(op.desc, preset);
  require<DeviceError>(place.kind == DeviceKind::Cpu, "device '", name_of(place), "' is not there; this build runs on cpu");
  DType dtype = op.spec->kernel_dtype(op.desc, inputs, outputs);
  KernelFactory make = op.spec->kernel(dtype);
  require<OpError>(make, "no kernel for ", name_of(dtype), " on cpu; there are kernels for ", list_dtypes(*op.spec));
  return {place, dtype, make};
}

std::vector<PlacedOp> place_ops(const InferredProgram& program, const Place& preset) {
  std::vector<PlacedOp> placed;
  placed.reserve(program.ops.size());
  for (const RunOp& run : program.ops) {
    auto inputs = infos_of(program, run.inputs);
    at_op({run.op->desc, run.index, program.block, &inputs},
          [&] { placed.push_back(place_op(*run.op, inputs, infos_of(program, run.outputs), preset)); });
  }
  return placed;
}

}  // namespace paddle_mini
