// Gradients of gradients that existing operators compute.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

inline constexpr const char* kZerosSuffix = "@ZEROS";  // zeros like a variable

// OpTable::gradient_of for an operator that is linear in all inputs that have a gradient. Its gradient applies the
// transposed matrix, so the gradient of the gradient is the operator itself, with the attributes in `changed`.
OpSchema linear_gradient_of(const OpTable& ops, const std::string& type, std::vector<Attr> changed = {});
// The rule of such a gradient, for a schema that is not begun by gradient_of.
GradientRule operator_again(const OpSchema& forward, const OpSchema& gradient, std::vector<Attr> changed = {});
// For a gradient that multiplies each element of `out_gradient` by a constant: the matrix is its own transpose.
GradientRule gradient_again(std::string out_gradient, std::string x_gradient);

}  // namespace paddle_mini
