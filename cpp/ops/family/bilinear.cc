// Gradients of gradients of products and convolutions.
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

BilinearSecond::BilinearSecond(KernelInit& init, KernelFactory forward, KernelFactory gradient, DType dtype) {
  const BilinearPorts p = BilinearPorts::of_second(init.op().type);
  Variable *x = init.input(p.x.c_str()), *y = init.input(p.y.c_str()), *given = init.input(p.given.c_str());
  Variable *xx = init.input(p.second_x.c_str()), *yy = init.input(p.second_y.c_str());
  x_gradient_ = init.output(p.x_gradient.c_str());
  y_gradient_ = init.output(p.y_gradient.c_str());
  given_gradient_ = init.output(p.given_gradient.c_str());
  has_x_ = xx != nullptr;
  has_y_ = yy != nullptr;
  auto differentiate = [&](Variable* at_x, Variable* at_y, const std::string& port, Variable* to) {
    OpDesc& desc =
        descs_.emplace_back(make_op(p.type + "_grad", {{p.x, {"x"}}, {p.y, {"y"}}, {p.out + kGradSuffix, {"g"}}},
                                    {{port + kGradSuffix, {"to"}}}, init.op().attrs));
    KernelInit inner(desc, {{at_x}, {at_y}, {given}}, {{to}}, init);
    parts_.push_back(gradient(inner));
  };
  auto apply = [&](Variable* at_x, Variable* at_y, Variable* to) {
    OpDesc& desc =
        descs_.emplace_back(make_op(p.type, {{p.x, {"x"}}, {p.y, {"y"}}}, {{p.out, {"to"}}}, init.op().attrs));
    KernelInit inner(desc, {{at_x}, {at_y}}, {{to}}, init);
    parts_.push_back(forward(inner));
  };
  if (x_gradient_ && yy) differentiate(x, yy, p.x, x_gradient_);
  if (y_gradient_ && xx) differentiate(xx, y, p.y, y_gradient_);
  if (given_gradient_ && xx) apply(xx, y, given_gradient_);
  if (given_gradient_ && yy) {
    if (xx) {
      sum_ = init.scratch(dtype, given_gradient_->tensor.shape.numel());
      sum_->tensor.shape = given_gradient_->tensor.shape;
    }
    apply(x, yy, xx ? sum_ : given_gradient_);
  }
}

void BilinearSecond::run(KernelContext& context) {
  if (x_gradient_ && !has_y_) clear(context, x_gradient_);
  if (y_gradient_ && !has_x_) clear(context, y_gradient_);
  if (given_gradient_ && !has_x_ && !has_y_) clear(context, given_gradient_);
  for (auto& part : parts_) part->run(context);
  if (sum_) add(context, *sum_, given_gradient_);
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
