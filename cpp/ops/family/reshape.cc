// Kernels and schemas of the operators that only change a shape.
#include "core/second_gradient.h"
#include "ops/family/reshape.h"

#include "math/copy.h"

namespace paddle_mini {
namespace {

void infer_gradient(InferContext& c) {
  require_tensors(c);
  const VarInfo& out = c.input("Out@GRAD");
  Shape x = shape_from_x_shape(c);
  bool fits = !x.known() || !out.shape.known() || x.numel() == out.shape.numel();
  require<ShapeError>(fits, "Out@GRAD has shape ", out.shape.str(), ", X had ", x.str());
  c.set_output("X@GRAD", out.dtype, x);
}

}  // namespace

void MoveKernel::run(KernelContext& context) {
  const char* from = static_cast<const char*>(from_->tensor.data);
  char* to = static_cast<char*>(to_->tensor.data);
  if (from != to) copy_n(context, from, static_cast<int64_t>(from_->tensor.bytes()), to);
}

OpSchema reshaping(const char* type) {
  return OpSchema(type)
      .input("X", "any shape")
      .output("Out", "the elements of X in the same order")
      .optional_output("XShape", "[0] and X's dimensions, without data; for the gradient")
      .view("X", "Out")
      .on_gpu()
      .kernel_for_any<ReshapeKernel>();
}

void add_reshaping(OpTable& ops, OpSchema forward, const TensorAttrs& ports, GradientRule again) {
  const std::string type = forward.type(), gradient = type + "_grad";
  ops.add(with_tensor_ports(forward.gradient(gradient, {"XShape", "Out@GRAD"}, {"X@GRAD"}), ports));
  OpSchema schema = with_tensor_ports(OpSchema(gradient)
                                          .input("XShape", "as in the forward operator")
                                          .input("Out@GRAD", "shape of Out")
                                          .output("X@GRAD", "shape of X"),
                                      ports);
  GradientRule second = again ? again : operator_again(ops.at(type), schema);
  ops.add(schema.gradient(std::move(second))
              .doc("X@GRAD has the elements of Out@GRAD in the shape of X.")
              .infer(infer_gradient)
              .view("Out@GRAD", "X@GRAD")
              .on_gpu()
              .kernel_for_any<ReshapeGradKernel>());
}

void set_reshaped(InferContext& c, const Shape& out) {
  require_tensors(c);
  c.set_output("Out", c.input("X").dtype, out);
  set_x_shape(c);
}

void set_x_shape(InferContext& c) {
  if (!c.has_output("XShape")) return;
  Shape x_shape{0};
  for (int64_t dim : c.shape("X")) x_shape.push_back(dim);
  c.set_output("XShape", c.input("X").dtype, x_shape);
}

Shape shape_from_x_shape(const InferContext& c) {
  const Shape& x_shape = c.shape("XShape");
  require<ShapeError>(x_shape.rank() > 0, "XShape has no dimensions; it must be [0] and X's dimensions");
  return Shape(std::vector<int64_t>(x_shape.begin() + 1, x_shape.end()));
}

}  // namespace paddle_mini
