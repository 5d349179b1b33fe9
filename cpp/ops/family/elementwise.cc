// Schemas shared by the elementwise operators of two inputs.
#include "ops/family/elementwise.h"

namespace paddle_mini {

OpSchema binary(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .input("Y", "a shape that can be broadcast with X's")
      .output("Out", "the broadcast shape")
      .attr("axis", -1, "the axis of X with which Y's first dimension is aligned; -1: the last axes are aligned",
            at_least(-1))
      .infer(infer_broadcast)
      .in_place("X", "Out")
      .on_gpu();
}

GradientRule sum_second_rule(const std::string& type) {
  return [=](const OpDesc& first) {
    std::vector<Slot> inputs = {{"Y", first.input("Y")}, {"DOut", first.input("Out@GRAD")}};
    for (const auto& [port, gradient] : {std::pair{"DDX", "X@GRAD"}, std::pair{"DDY", "Y@GRAD"}})
      if (!first.output(gradient).empty()) inputs.push_back({port, gradient_names(first.output(gradient))});
    return std::vector<OpDesc>{
        make_op(type + "_grad_grad", inputs, {{"DDOut", gradient_names(first.input("Out@GRAD"))}}, first.attrs)};
  };
}

OpSchema sum_second_gradient(const OpTable& ops, const std::string& type) {
  const AttrSchema& axis = *ops.at(type).find_attr("axis");
  return OpSchema(type + "_grad_grad")
      .doc("The gradient of " + type + "_grad: DDOut = " + type + " of DDX and DDY, with zeros for one that is absent.")
      .shape_input("Y", "from the operator")
      .shape_input("DOut", "the gradient of Out")
      .optional_input("DDX", "the gradient of the gradient of X")
      .optional_input("DDY", "the gradient of the gradient of Y")
      .output("DDOut", "shape of DOut")
      .attr("axis", *axis.default_value, axis.doc.c_str(), axis.check)
      .infer([](InferContext& c) {
        require_tensors(c);
        const Shape &out = c.shape("DOut"), &y = c.has_input("DDY") ? c.shape("DDY") : c.shape("Y");
        for (const char* port : {"DOut", "DDX", "DDY"})
          if (c.has_input(port)) require_same_dtype(c, "Y", port);
        if (c.has_input("DDY")) require_same_shape(c, "Y", "DDY");
        Shape sum = broadcast_shape(c.has_input("DDX") ? c.shape("DDX") : out, y, c.attr<int32_t>("axis"));
        require<ShapeError>(shapes_agree(sum, out), "DOut has shape ", out.str(), ", the operands give ", sum.str());
        c.set_output("DDOut", c.input("DOut"));
      })
      .on_gpu();
}

OpSchema binary_gradient(const OpTable& ops, const std::string& forward) {
  return ops.gradient_of(forward).in_place("Out@GRAD", "X@GRAD");
}

}  // namespace paddle_mini
