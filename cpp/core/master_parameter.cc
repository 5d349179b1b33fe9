// Ports, checks and rewriting of steps with a master parameter.
#include "core/master_parameter.h"

#include <memory>

namespace paddle_mini {
namespace {

bool is_half(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

// Slots with the arguments of `master` in `port`, and without the slot `master`.
std::vector<Slot> with_master_as(const char* port, const char* master, const std::vector<Slot>& slots,
                                 const std::vector<std::string>& arguments) {
  std::vector<Slot> result;
  for (const Slot& slot : slots) {
    if (slot.name != master) result.push_back({slot.name, slot.name == port ? arguments : slot.arguments});
  }
  return result;
}

void require_master(const VarInfo& param, const VarInfo& master) {
  require<ShapeError>(is_half(param.dtype), "Param is ", name_of(param.dtype),
                      "; beside MasterParam it must be float16 or bfloat16");
  require<ShapeError>(master.dtype == DType::Float32, "MasterParam is ", name_of(master.dtype), ", it must be float32");
  require<ShapeError>(shapes_agree(param.shape, master.shape), "Param has shape ", param.shape.str(),
                      ", MasterParam has ", master.shape.str());
}

void infer_with_master(const OpSchema& step, InferContext& c) {
  const size_t count = c.input_count("Param"), masters = c.input_count("MasterParam");
  require<ProgramError>(masters == count, "MasterParam has ", masters, " variables, Param has ", count);
  for (size_t i = 0; i < count; ++i) require_master(c.input("Param", i), c.input("MasterParam", i));
  OpDesc desc = step_on_master(c.op());
  std::vector<std::vector<VarInfo>> inputs;
  for (const Slot& slot : desc.inputs) {
    inputs.emplace_back();
    for (size_t i = 0; i < slot.arguments.size(); ++i) {
      inputs.back().push_back(c.input(slot.name == "Param" ? "MasterParam" : slot.name.c_str(), i));
      if (slot.name == "Grad" && is_half(inputs.back().back().dtype)) inputs.back().back().dtype = DType::Float32;
    }
  }
  InferContext inner(desc, std::move(inputs));
  step.run_infer(inner);
  for (size_t s = 0; s < desc.outputs.size(); ++s) {
    const std::string port = desc.outputs[s].name == "ParamOut" ? "MasterParamOut" : desc.outputs[s].name;
    for (size_t i = 0; i < desc.outputs[s].arguments.size(); ++i) c.output(port.c_str(), i) = inner.outputs()[s][i];
  }
  for (size_t i = 0; i < count; ++i) c.output("ParamOut", i) = c.input("Param", i);
}

}  // namespace

OpSchema with_master(OpSchema schema, Updates updates) {
  auto step = std::make_shared<const OpSchema>(schema);
  const char* doc =
      "float32, shape of Param, which then is of 16 bits: the step changes this, and Param is it, rounded";
  const char* out_doc = "the same variable as MasterParam";
  if (updates == Updates::One) {
    schema.optional_input("MasterParam", doc).optional_output("MasterParamOut", out_doc);
  } else {
    schema.optional_input_list("MasterParam", doc).optional_output_list("MasterParamOut", out_doc);
  }
  return schema.updates("MasterParam", "MasterParamOut")
      .attr("multi_precision", false, "as PaddlePaddle sets it beside MasterParam; not read")
      .infer([step](InferContext& c) {
        if (has_master(c.op())) infer_with_master(*step, c);
        else step->run_infer(c);
      });
}

bool has_master(const OpDesc& op) { return !op.input("MasterParam").empty() && !op.output("MasterParamOut").empty(); }

OpDesc step_on_master(const OpDesc& op) {
  OpDesc step = op;
  step.inputs = with_master_as("Param", "MasterParam", op.inputs, op.input("MasterParam"));
  step.outputs = with_master_as("ParamOut", "MasterParamOut", op.outputs, op.output("MasterParamOut"));
  return step;
}

}  // namespace paddle_mini
