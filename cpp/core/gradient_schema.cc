// The operator that computes a gradient, and its schema, from the schema of the forward operator.
#include <algorithm>

#include "core/op_schema.h"

namespace paddle_mini {
namespace {

// Port P of a forward operator, or P@GRAD, as a port of the gradient.
PortSchema inherit(const PortSchema& port, const std::string& name) {
  PortSchema result = port;
  if (is_gradient_port(name)) result.doc = (port.list ? "shapes of " : "shape of ") + port.name;
  result.name = name;
  result.inherited = true;
  return result;
}

// Variable i at `name`, which is `port`, an output of the forward operator, or its gradient, must be as the output is.
void require_like(const InferContext& c, const std::string& name, const std::string& port, size_t i,
                  const VarInfo& out) {
  if (i >= c.input_count(name.c_str())) return;
  const VarInfo& given = c.input(name.c_str(), i);
  const std::string wanted = name == port ? ", it must be " : ", " + port + " is ";
  bool one = out.shape.known() && out.shape.numel() == 1;
  require<ShapeError>(given.dtype == out.dtype, name, " is ", name_of(given.dtype), wanted, name_of(out.dtype));
  require<ShapeError>(same_shape(given.shape, out.shape) || (one && !given.shape.known()), name, " has shape ",
                      given.shape.str(), wanted, one ? "one element" : out.shape.str());
}

// Asks the forward operator's infer what its outputs are: they, and their gradients, must be so.
void check_outputs(const OpSchema& forward, InferContext& c) {
  OpDesc op = make_op(forward.type(), {}, {}, c.op().attrs);
  std::vector<std::vector<VarInfo>> infos;
  std::vector<std::vector<const Variable*>> values;
  for (const PortSchema& port : forward.inputs()) {
    op.inputs.push_back({port.name, c.op().input(port.name)});
    infos.emplace_back();
    values.emplace_back();
    for (size_t i = 0; i < c.input_count(port.name.c_str()); ++i) {
      infos.back().push_back(c.input(port.name.c_str(), i));
      values.back().push_back(c.value(port.name.c_str(), i));
    }
  }
  for (const PortSchema& port : forward.outputs()) {
    std::vector<std::string> names = c.op().input(port.name + kGradSuffix);
    op.outputs.push_back({port.name, names.empty() ? std::vector<std::string>{port.name} : names});
  }
  if (!c.has_values()) values.clear();
  InferContext result(op, std::move(infos), std::move(values));
  forward.run_infer(result);
  if (result.awaits_values()) c.await_values();
  for (const Slot& slot : op.outputs) {
    for (size_t i = 0; i < slot.arguments.size(); ++i) {
      const VarInfo& out = result.output(slot.name.c_str(), i);
      require_like(c, slot.name, slot.name, i, out);
      require_like(c, slot.name + kGradSuffix, slot.name, i, out);
    }
  }
}

}  // namespace

bool is_gradient_port(const std::string& port) {
  const std::string suffix = kGradSuffix;
  return port.size() >= suffix.size() && port.compare(port.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::string without_grad(const std::string& port) {
  return is_gradient_port(port) ? port.substr(0, port.size() - std::string(kGradSuffix).size()) : port;
}

std::vector<std::string> gradient_names(const std::vector<std::string>& names) {
  std::vector<std::string> gradients;
  for (const std::string& name : names) gradients.push_back(name == kEmptyName ? name : name + kGradSuffix);
  return gradients;
}

OpSchema& OpSchema::gradient(std::string_view type, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs) {
  gradient_type_ = type;
  gradient_inputs_ = inputs;
  gradient_outputs_ = outputs;
  return set_gradient([type = gradient_type_, inputs, outputs](const OpDesc& forward) {
    auto slots = [&](const std::vector<std::string>& ports) {
      std::vector<Slot> result;
      for (const std::string& port : ports) {
        std::string plain = without_grad(port);
        std::vector<std::string> names = forward.input(plain);
        if (names.empty()) names = forward.output(plain);
        if (!names.empty()) result.push_back({port, is_gradient_port(port) ? gradient_names(names) : names});
      }
      return result;
    };
    OpDesc op = make_op(type, slots(inputs), slots(outputs), forward.attrs);
    return std::vector<OpDesc>{op};
  });
}

OpSchema OpSchema::gradient_schema() const {
  require<ProgramError>(!gradient_type_.empty(), "schema of '", type_,
                        "': gradient_of needs a gradient that names its ports");
  auto find = [](const std::vector<PortSchema>& ports, const std::string& name) {
    return std::find_if(ports.begin(), ports.end(), [&](const PortSchema& port) { return port.name == name; });
  };
  OpSchema schema(gradient_type_);
  for (const std::string& name : gradient_inputs_) {
    auto input = find(inputs_, without_grad(name));
    bool is_input = input != inputs_.end();
    schema.inputs_.push_back(inherit(is_input ? *input : *find(outputs_, without_grad(name)), name));
    if (!is_input || is_gradient_port(name)) schema.inputs_.back().optional = false;
  }
  for (const std::string& name : gradient_outputs_) {
    schema.outputs_.push_back(inherit(*find(inputs_, without_grad(name)), name));
    PortSchema& port = schema.outputs_.back();
    port.optional = port.optional || port.list || gradient_outputs_.size() > 1;
    if (port.list) port.doc += "; @EMPTY@ for one that is not computed";
  }
  schema.attrs_ = attrs_;
  for (AttrSchema& attr : schema.attrs_) attr.inherited = true;
  bool has_inputs = std::all_of(inputs_.begin(), inputs_.end(), [&](const PortSchema& port) {
    return find(schema.inputs_, port.name) != schema.inputs_.end();
  });
  schema.infer([forward = *this, has_inputs](InferContext& c) {
    if (has_inputs) check_outputs(forward, c);
    gradients_like_inputs(c);
  });
  schema.on_gpu_ = on_gpu_;
  schema.cpu_only_reason_ = cpu_only_reason_;
  return schema;
}

}  // namespace paddle_mini
