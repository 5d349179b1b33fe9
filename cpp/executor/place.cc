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

std::vector<PlacedOp> place_ops(const InferredProgram& program, const Place& preset) {
  std::vector<PlacedOp> placed;
  placed.reserve(program.ops.size());
  for (const RunOp& run : program.ops) {
    auto inputs = infos_of(program, run.inputs);
    const OpDesc& op = run.op->desc;
    at_op({op, run.index, 0, &inputs}, [&] {
      Place place = wanted_place(op, preset);
      require<DeviceError>(place.kind == DeviceKind::Cpu, "device '", name_of(place), "' is not there; this build runs on cpu");
      DType dtype = run.op->spec->kernel_dtype(op, inputs, infos_of(program, run.outputs));
      KernelFactory make = run.op->spec->kernel(dtype);
      require<OpError>(make, "no kernel for ", name_of(dtype), " on cpu; there are kernels for ", list_dtypes(*run.op->spec));
      placed.push_back({place, dtype, make});
    });
  }
  return placed;
}

}  // namespace paddle_mini
