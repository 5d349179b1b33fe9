// The element types for which an operator has kernels, for messages and checks.
#pragma once

#include "core/op_schema.h"

namespace paddle_mini {

std::string list_kernel_dtypes(const OpSchema& schema);  // "float32, float64"

// For programs under construction: throws ShapeError if the operator has no kernel for these element types. It checks
// the CPU's kernels, which every operator has.
void check_kernel_dtype(const OpSchema& schema, const OpDesc& op, const std::vector<std::vector<VarInfo>>& inputs,
                        const std::vector<std::vector<VarInfo>>& outputs);

}  // namespace paddle_mini
