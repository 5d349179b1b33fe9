// Operators that give the same elements another shape: their kernels, and what all their schemas say.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// Moves bytes, unless the output already lies where the input does.
class MoveKernel : public Kernel {
 public:
  MoveKernel(Variable* from, Variable* to) : from_(from), to_(to) {}
  void run(KernelContext& context) override;

 private:
  Variable *from_, *to_;
};

// Records that lack what is the operator's own: doc, attributes, infer of the forward one, gradient.
OpSchema reshaping(const char* type);           // X -> Out, XShape
OpSchema reshaping_gradient(const char* type);  // XShape, Out@GRAD -> X@GRAD

// Out has X's elements in this shape. XShape is [0] and X's dimensions, without data: it tells the gradient X's shape.
void set_reshaped(InferContext& c, const Shape& out);
void set_x_shape(InferContext& c);
// X's shape again.
Shape shape_from_x_shape(const InferContext& c);

}  // namespace paddle_mini
