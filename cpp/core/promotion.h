// Real numbers beside complex ones: an operator whose schema says so computes them in complex ones (executor/widen.h). The
// gradient of a real variable is the real part.
#pragma once

#include <optional>

#include "core/op_schema.h"

namespace paddle_mini {

// A part of a schema of an operator with kernels for both, or of its gradient.
OpSchema promotes_complex(OpSchema schema);

// The element type of results of two inputs: theirs, or the complex one whose parts the other one has. Throws ShapeError for
// others.
DType promoted_dtype(const InferContext& c, const char* a, const char* b);
// The complex type that the inputs are cast to; none if they are all real, or all complex, or the schema does not do it.
std::optional<DType> promotes_to(const OpSchema& schema, const std::vector<std::vector<VarInfo>>& inputs);

}  // namespace paddle_mini
