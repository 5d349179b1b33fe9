// Checks that a schema is complete and that everything it names exists. A schema is checked when its operator is added,
// its gradient when all operators are.
#include <algorithm>
#include <set>

#include "core/op_table.h"

namespace paddle_mini {

bool has_port(const std::vector<PortSchema>& ports, const std::string& name) {
  return std::any_of(ports.begin(), ports.end(), [&](const PortSchema& port) { return port.name == name; });
}

namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Throws if two ports or attributes have the same name.
template <class List>
void require_different_names(const List& list, const char* side) {
  std::set<std::string> names;
  for (const auto& one : list)
    require<ProgramError>(names.insert(one.name).second, side, " '", one.name, "' occurs twice");
}

struct NamedPorts {
  const OpSchema& schema;
  const char* call;  // the call of the schema that names the ports

  void require_input(const std::string& name) const {
    require<ProgramError>(has_port(schema.inputs(), name), call, " names an input '", name, "', which does not exist");
  }
  void require_output(const std::string& name) const {
    require<ProgramError>(has_port(schema.outputs(), name), call, " names an output '", name,
                          "', which does not exist");
  }
  void require_inputs(const std::vector<std::string>& names) const {
    for (const std::string& name : names) require_input(name);
  }
  void require_pairs(const std::vector<std::pair<std::string, std::string>>& pairs) const {
    for (const auto& [input, output] : pairs) {
      require_input(input);
      require_output(output);
    }
  }
  // Inputs of the gradient are `port` or `port`@GRAD of an input or output; its outputs are @GRAD of inputs.
  void require_gradient_ports(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) const {
    for (const std::string& port : inputs) {
      if (!has_port(schema.inputs(), without_grad(port))) require_output(without_grad(port));
    }
    for (const std::string& port : outputs) {
      require<ProgramError>(is_gradient_port(port), call, " outputs '", port, "', which is not a gradient");
      require_input(without_grad(port));
    }
  }
};

// An arbitrary value of this type.
AttrValue some_value(AttrType type) {
  switch (type) {
    case AttrType::Int: return int32_t{0};
    case AttrType::Long: return int64_t{0};
    case AttrType::Float: return 0.0f;
    case AttrType::Boolean: return false;
    case AttrType::String: return std::string();
    case AttrType::Floats: return std::vector<float>();
    case AttrType::Block: return BlockIndex{};
    default: return std::vector<int32_t>();
  }
}

}  // namespace

bool OpSchema::is_gradient() const { return ends_with(type_, "_grad") || ends_with(type_, "_grad2"); }

template <class F>
void OpSchema::located(F check) const {
  try {
    check();
  } catch (const ProgramError& error) { fail<ProgramError>("schema of '", type_, "': ", error.what()); }
}

void OpSchema::check_schema() const {
  located([&] {
    require<ProgramError>(!doc_.empty(), "doc is missing");
    require<ProgramError>(infer_ || control_, "infer is missing");
    require<ProgramError>(is_gradient() || gradient_ || !no_gradient_reason_.empty(),
                          "gradient, or the reason for none, is missing");
    require<ProgramError>(!gradient_ || no_gradient_reason_.empty(), "gradient and no_gradient are both given");
    require<ProgramError>(role_ != OpRole::Compute || control_ || has_kernels(), "kernels are missing");
    // Beside kernels, control is for tensor arrays in place of tensors or selected rows.
    require<ProgramError>(!control_ || !has_kernels() || !row_ports_.empty(), "kernels and control are both given");
    require<ProgramError>(has_kernels() || !(checks_data_ || on_gpu_ || !dtype_port_.empty()),
                          "facts about kernels are stated, but kernels are missing");
    require<ProgramError>(!on_gpu_ || cpu_only_reason_.empty(), "on_gpu and cpu_only are both given");
    require_different_names(inputs_, "input");
    require_different_names(outputs_, "output");
    require_different_names(attrs_, "attribute");
    NamedPorts{*this, "in_place"}.require_pairs(in_places_);
    NamedPorts{*this, "view"}.require_pairs(views_);
    NamedPorts{*this, "updates"}.require_pairs(updates_);
    NamedPorts{*this, "accepts_selected_rows"}.require_inputs(row_ports_);
    NamedPorts{*this, "shape_only"}.require_inputs(shape_ports_);
    NamedPorts{*this, "splits_batch"}.require_inputs(batch_ports_);
    if (!output_in_parts_.empty()) NamedPorts{*this, "stores_parts"}.require_output(output_in_parts_);
    if (!checked_port_.empty()) NamedPorts{*this, "checks_data"}.require_input(checked_port_);
    NamedPorts{*this, "gradient"}.require_gradient_ports(gradient_inputs_, gradient_outputs_);
    require<ProgramError>(!decides_lod_ || !is_gradient(),
                          "custom_lod: a gradient has the sequences of what it is the gradient of");
    if (dtype_port_.empty()) return;
    if (dtype_port_is_output_) NamedPorts{*this, "dtype_from_output"}.require_output(dtype_port_);
    else NamedPorts{*this, "dtype_from_input"}.require_input(dtype_port_);
    const std::vector<PortSchema>& first = inputs_.empty() ? outputs_ : inputs_;
    bool decides_anyway = first.front().name == dtype_port_ && dtype_port_is_output_ == inputs_.empty();
    require<ProgramError>(!decides_anyway, "the dtype is that of '", dtype_port_, "' by default: it is the first port");
  });
}

// Builds an operator of this type. Lists have two variables.
OpDesc OpSchema::example(bool with_optional_ports) const {
  auto slots = [&](const std::vector<PortSchema>& ports) {
    std::vector<Slot> result;
    for (const PortSchema& port : ports) {
      if (port.optional && !with_optional_ports) continue;
      result.push_back({port.name, {port.name + ".0"}});
      if (port.list) result.back().arguments.push_back(port.name + ".1");
    }
    return result;
  };
  OpDesc op = make_op(type_, slots(inputs_), slots(outputs_));
  for (const AttrSchema& attr : attrs_)
    op.set_attr(attr.name, attr.default_value ? *attr.default_value : some_value(attr.type));
  return op;
}

// A gradient may need a port that is optional in its operator, as that of flatten2 needs XShape: this raises an error
// when the gradient is created.
void OpSchema::check_gradient(const OpTable& others) const {
  if (!has_gradient()) return;
  located([&] {
    for (bool with_optional_ports : {true, false}) {
      std::vector<OpDesc> gradients;
      try {
        gradients = gradient_(example(with_optional_ports));
      } catch (const ProgramError&) {
        continue;  // it needs other attribute values
      }
      for (OpDesc& op : gradients) {
        const OpSchema* schema = others.find(op.type);
        require<ProgramError>(schema, "its gradient '", op.type, "' is not defined");
        if (with_optional_ports) schema->located([&] { schema->complete_ports(op); });
      }
    }
  });
}

}  // namespace paddle_mini
