// Schemas shared by the elementwise operators of one input.
#include "ops/family/unary.h"

#include <map>

namespace paddle_mini {

OpSchema unary(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .output("Out", "shape of X")
      .infer(same_as("X"))
      .in_place("X", "Out")
      .on_gpu();
}

std::string unary_forward_of(const std::string& second) {
  size_t end = second.find("_grad_grad");
  return second.substr(0, end == std::string::npos ? second.find("_double_grad") : end);
}

UnarySecondPorts unary_second_ports(const std::string& forward, const std::string& saved) {
  static const std::map<std::string, UnarySecondPorts> others = {
      {"relu", {"relu_grad_grad", "Out", ""}},
      {"leaky_relu", {"leaky_relu_grad_grad", "X", ""}},
      {"abs", {"abs_double_grad", "x", ""}},
      {"sigmoid", {"sigmoid_grad_grad", "Out", "fwd_grad_out", "grad_x@GRAD", "fwd_grad_out@GRAD"}},
      {"sqrt", {"sqrt_grad_grad", "Out", "grad_x"}},
      {"rsqrt", {"rsqrt_grad_grad", "Out", "grad_x"}},
      {"softplus", {"softplus_double_grad", "X", "grad_out"}},
      {"sin", {"sin_double_grad", "X", "grad_out"}},
      {"cos", {"cos_double_grad", "X", "grad_out"}},
      {"pow", {"pow_double_grad", "X", "grad_out"}},
  };
  auto found = others.find(forward);
  return found != others.end() ? found->second : UnarySecondPorts{forward + "_grad_grad", saved, "grad_out"};
}

UnarySecond::UnarySecond(KernelInit& init, Saved kept, DType dtype) {
  const UnarySecondPorts ports = unary_second_ports(unary_forward_of(init.op().type), port_of(kept));
  auto checked = [dtype](Variable* variable, const std::string& port) {
    return variable ? checked_port(variable, port.c_str(), dtype) : nullptr;
  };
  saved = checked_port(init.input(ports.saved.c_str()), ports.saved.c_str(), dtype);
  given = checked(init.input(ports.given.c_str()), ports.given);
  second = checked_port(init.input(ports.second.c_str()), ports.second.c_str(), dtype);
  const std::string derived = ports.saved + kGradSuffix;
  saved_gradient = checked(init.output(derived.c_str()), derived);
  given_gradient = checked(init.output(ports.given_gradient.c_str()), ports.given_gradient);
  gives_x_gradient = ports.gives_x_gradient();
}

namespace {

// The forward variable that the gradient reads. elu and silu have Out too, but do not read it.
std::string saved_port(const OpSchema& gradient) {
  for (const PortSchema& port : gradient.inputs())
    if (port.name == "X") return "X";
  return "Out";
}

GradientRule second_rule(const std::string& forward, const std::string& saved) {
  return [=](const OpDesc& first) {
    UnarySecondPorts ports = unary_second_ports(forward, saved);
    std::vector<Slot> inputs = {{ports.saved, first.input(saved)}}, outputs;
    if (!ports.given.empty()) {
      inputs.push_back({ports.given, ports.gives_x_gradient() ? first.output("X@GRAD") : first.input("Out@GRAD")});
      outputs.push_back({ports.saved + "@GRAD", gradient_names(first.input(saved))});
    }
    inputs.push_back({ports.second, gradient_names(first.output("X@GRAD"))});
    if (!first.input("FactorTensor").empty()) inputs.push_back({"FactorTensor", first.input("FactorTensor")});
    outputs.push_back({ports.given_gradient, gradient_names(first.input("Out@GRAD"))});
    return std::vector<OpDesc>{make_op(ports.type, inputs, outputs, first.attrs)};
  };
}

}  // namespace

OpSchema same_shape_gradient(const OpTable& ops, const std::string& forward) {
  return ops.gradient_of(forward)
      .infer([](InferContext& c) {
        const char* port = c.has_input("X") ? "X" : "Out";
        require_tensors(c);
        require_same_dtype(c, port, "Out@GRAD");
        require_same_shape(c, port, "Out@GRAD");
        c.set_output("X@GRAD", c.input(port));
      })
      .in_place("Out@GRAD", "X@GRAD");
}

OpSchema unary_gradient(const OpTable& ops, const std::string& forward) {
  OpSchema schema = same_shape_gradient(ops, forward);
  return schema.gradient(second_rule(forward, saved_port(schema)));
}

OpSchema unary_second_gradient(const OpTable& ops, const std::string& forward) {
  UnarySecondPorts ports = unary_second_ports(forward, saved_port(ops.at(forward + "_grad")));
  OpSchema schema(ports.type);
  schema.doc("The gradient of " + forward + "_grad: " + ports.given_gradient + " is " + ports.second +
             " times the derivative of " + forward +
             (ports.given.empty()
                  ? "."
                  : "; " + ports.saved + "@GRAD is its derivative with respect to " + ports.saved + "."));
  schema.input(ports.saved.c_str(), "from the forward operator");
  if (!ports.given.empty()) {
    schema.input(ports.given.c_str(), ports.gives_x_gradient() ? "the gradient of X" : "the gradient of Out");
    schema.optional_output((ports.saved + "@GRAD").c_str(), "the gradient of this input");
  }
  schema.input(ports.second.c_str(), "the gradient of the gradient of X");
  if (ports.given.empty()) schema.output(ports.given_gradient.c_str(), "the gradient of the gradient of Out");
  else schema.optional_output(ports.given_gradient.c_str(), "the gradient of the gradient of Out");
  for (const AttrSchema& attr : ops.at(forward).attrs())
    schema.attr(attr.name.c_str(), *attr.default_value, attr.doc.c_str(), attr.check);
  return schema.in_place(ports.second.c_str(), ports.given_gradient.c_str()).on_gpu().infer([ports](InferContext& c) {
    require_tensors(c);
    for (const std::string& port : {ports.given, ports.second}) {
      if (port.empty()) continue;
      require_same_dtype(c, ports.saved.c_str(), port.c_str());
      require_same_shape(c, ports.saved.c_str(), port.c_str());
    }
    for (const std::string& port : {ports.saved + "@GRAD", ports.given_gradient})
      if (c.has_output(port.c_str())) c.set_output(port.c_str(), c.input(ports.saved.c_str()));
  });
}

}  // namespace paddle_mini
