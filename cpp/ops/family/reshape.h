// Operators that give the same elements another shape: kernels and the shared part of their schemas.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// Copies bytes, unless the output shares the memory of the input.
class MoveKernel : public Kernel {
 public:
  MoveKernel(Variable* from, Variable* to) : from_(from), to_(to) {}
  void run(KernelContext& context) override;

 private:
  Variable *from_, *to_;
};

// Schemas without the operator's own items: doc, attributes, forward infer, gradient.
OpSchema reshaping(const char* type);           // X -> Out, XShape
OpSchema reshaping_gradient(const char* type);  // XShape, Out@GRAD -> X@GRAD

// Out has X's elements in this shape. XShape is [0] and X's dimensions, without data; it gives the gradient X's shape.
void set_reshaped(InferContext& c, const Shape& out);
void set_x_shape(InferContext& c);
// Recovers X's shape from XShape.
Shape shape_from_x_shape(const InferContext& c);

}  // namespace paddle_mini
