// Schemas of the gradients of gradients of products and convolutions.
#include "ops/family/bilinear.h"

#include <map>

namespace paddle_mini {
namespace {

bool is_convolution(const std::string& type) { return type.find("conv") != std::string::npos; }

OpDesc second_op(const BilinearPorts& p, const OpDesc& first) {
  std::vector<Slot> inputs = {
      {p.x, first.input(p.x)}, {p.y, first.input(p.y)}, {p.given, first.input(p.out + kGradSuffix)}};
  const std::vector<std::string>&x = first.output(p.x + kGradSuffix), &y = first.output(p.y + kGradSuffix);
  std::vector<Slot> outputs;
  if (!x.empty()) inputs.push_back({p.second_x, gradient_names(x)});
  if (!y.empty()) inputs.push_back({p.second_y, gradient_names(y)});
  // Without the gradient of the one input, the gradient of the other one is 0.
  if (!y.empty()) outputs.push_back({p.x_gradient, gradient_names(first.input(p.x))});
  if (!x.empty()) outputs.push_back({p.y_gradient, gradient_names(first.input(p.y))});
  outputs.push_back({p.given_gradient, gradient_names(first.input(p.out + kGradSuffix))});
  return make_op(p.second_type, inputs, outputs, first.attrs);
}

// The gradient's infer checks x, y and the gradient of Out.
void infer_second(const BilinearPorts& p, const OpSchema& gradient, InferContext& c) {
  require_tensors(c);
  OpDesc first = make_op(gradient.type(), {{p.x, {"x"}}, {p.y, {"y"}}, {p.out + kGradSuffix, {"g"}}},
                         {{p.x + kGradSuffix, {"xg"}}, {p.y + kGradSuffix, {"yg"}}}, c.op().attrs);
  InferContext checked(first, {{c.input(p.x.c_str())}, {c.input(p.y.c_str())}, {c.input(p.given.c_str())}});
  gradient.run_infer(checked);
  for (const auto& [second, port] : {std::pair{p.second_x, p.x}, std::pair{p.second_y, p.y}}) {
    if (!c.has_input(second.c_str())) continue;
    require_same_dtype(c, port.c_str(), second.c_str());
    require_same_shape(c, port.c_str(), second.c_str());
  }
  c.set_output(p.x_gradient.c_str(), c.input(p.x.c_str()));
  c.set_output(p.y_gradient.c_str(), c.input(p.y.c_str()));
  c.set_output(p.given_gradient.c_str(), c.input(p.given.c_str()));
}

}  // namespace

BilinearPorts::BilinearPorts(const std::string& the_type)
    : type(the_type), x("X"), y("Y"), out("Out"), second_type(the_type + "_grad_grad"), given("grad_out"),
      second_x("grad_x@GRAD"), second_y("grad_y@GRAD"), given_gradient("grad_out@GRAD") {
  if (is_convolution(type)) {
    x = "Input", y = "Filter", out = "Output";
    second_x = "grad_input@GRAD", second_y = "grad_filter@GRAD";
  }
  if (type == "mv") y = "Vec", second_y = "grad_vec@GRAD";
  x_gradient = x + kGradSuffix, y_gradient = y + kGradSuffix;
  if (type == "mul" || type == "matmul" || type == "elementwise_mul") {
    given = "DOut", second_x = "DDX", second_y = "DDY", given_gradient = "DDOut";
    if (type != "elementwise_mul") x_gradient = "DX", y_gradient = "DY";
  }
}

BilinearPorts BilinearPorts::of_second(const std::string& second_type) {
  return BilinearPorts(second_type.substr(0, second_type.size() - std::string("_grad_grad").size()));
}

OpSchema bilinear_gradient_of(const OpTable& ops, const std::string& type) {
  return ops.gradient_of(type).gradient([ports = BilinearPorts(type)](const OpDesc& first) {
    return std::vector<OpDesc>{second_op(ports, first)};
  });
}

OpSchema bilinear_second_gradient(const OpTable& ops, const std::string& type) {
  BilinearPorts p(type);
  OpSchema schema(p.second_type);
  schema
      .doc("The gradient of " + type + "_grad. The gradient of " + p.x + " is that which " + type +
           "_grad computes with " + p.second_y + " in place of " + p.y + ", and vice versa; " + p.given_gradient +
           " is " + type + " of " + p.second_x + " and " + p.y + " plus " + type + " of " + p.x + " and " + p.second_y +
           ".")
      .input(p.x.c_str(), "from the operator")
      .input(p.y.c_str(), "from the operator")
      .input(p.given.c_str(), ("the gradient of " + p.out).c_str())
      .optional_input(p.second_x.c_str(), ("the gradient of the gradient of " + p.x + "; absent: zeros").c_str())
      .optional_input(p.second_y.c_str(), ("the gradient of the gradient of " + p.y + "; absent: zeros").c_str())
      .optional_output(p.x_gradient.c_str(), ("the gradient of " + p.x).c_str())
      .optional_output(p.y_gradient.c_str(), ("the gradient of " + p.y).c_str())
      .optional_output(p.given_gradient.c_str(), ("the gradient of " + p.given).c_str());
  for (const AttrSchema& attr : ops.at(type).attrs())
    schema.attr(attr.name.c_str(), *attr.default_value, attr.doc.c_str(), attr.check);
  return schema.on_gpu().infer([p, gradient = ops.at(type + "_grad")](InferContext& c) {
    infer_second(p, gradient, c);
  });
}

}  // namespace paddle_mini
