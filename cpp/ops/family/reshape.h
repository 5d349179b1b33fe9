// Operators that give the same elements another shape: kernels and the shared part of their schemas.
#pragma once

#include "core/op_table.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {

// Copies bytes, unless the output shares the memory of the input.
class MoveKernel : public Kernel {
 public:
  MoveKernel(Variable* from, Variable* to) : from_(from), to_(to) {}
  void run(KernelContext& context) override;

 private:
  Variable *from_, *to_;
};

struct ReshapeKernel : MoveKernel {
  explicit ReshapeKernel(KernelInit& init) : MoveKernel(init.input("X"), init.output("Out")) {}
};
struct ReshapeGradKernel : MoveKernel {
  explicit ReshapeGradKernel(KernelInit& init) : MoveKernel(init.input("Out@GRAD"), init.output("X@GRAD")) {}
};

// A schema without the operator's own items: doc, attributes, infer.
OpSchema reshaping(const char* type);  // X -> Out, XShape
// Adds such an operator and its gradient; ports: inputs of both that give attributes as tensors; again: the gradient of
// its gradient, if that is not the operator itself.
void add_reshaping(OpTable& ops, OpSchema forward, const TensorAttrs& ports = {}, GradientRule again = nullptr);

// Out has X's elements in this shape. XShape is [0] and X's dimensions, without data; it gives the gradient X's shape.
void set_reshaped(InferContext& c, const Shape& out);
void set_x_shape(InferContext& c);
// Recovers X's shape from XShape.
Shape shape_from_x_shape(const InferContext& c);

}  // namespace paddle_mini
