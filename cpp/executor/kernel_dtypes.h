// Which element types an operator has kernels for, as messages say it.
#pragma once

#include "core/op_spec.h"

namespace paddle_mini {

std::string list_kernel_dtypes(const OpSpec& spec);  // "float32, float64"

// While a program is built: ShapeError where the operator has no kernel for these element types. The types are
// compared with those of the CPU's kernels, which every operator has.
void check_kernel_dtype(const OpSpec& spec, const OpDesc& op, const std::vector<std::vector<VarInfo>>& inputs,
                        const std::vector<std::vector<VarInfo>>& outputs);

}  // namespace paddle_mini
