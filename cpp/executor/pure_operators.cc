// The list of pure operators. An operator that is not in it stays as the program has it.
#include "executor/pure_operators.h"

#include <unordered_set>

namespace paddle_mini {

bool is_pure(const RunOp& op) {
  // clang-format off
  static const std::unordered_set<std::string> types = {
      "abs", "assign", "assign_value", "attention", "bmm", "cast", "ceil", "clip", "concat", "cos", "cumsum", "diag_v2",
      "diagonal", "elementwise_add", "elementwise_div", "elementwise_max", "elementwise_min", "elementwise_mul",
      "elementwise_pow", "elementwise_sub", "equal", "erf", "exp", "expand", "expand_as_v2", "expand_v2", "eye",
      "fill_any_like", "fill_constant", "fill_constant_batch_size_like", "fill_zeros_like", "flatten2",
      "flatten_contiguous_range", "flip", "floor", "fold_normalization", "gelu", "greater_equal", "greater_than",
      "less_equal", "less_than", "linspace", "log", "logical_and", "logical_not", "logical_or", "logical_xor",
      "logspace", "matmul", "matmul_v2", "mean", "mul", "not_equal", "pad", "pad2d", "pad3d", "pow", "range",
      "reciprocal", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "relu", "reshape",
      "reshape2", "reverse", "roll", "round", "rsqrt", "scale", "shape", "sigmoid", "sign", "sin", "size", "slice",
      "softmax", "split", "sqrt", "square", "squeeze2", "stack", "strided_slice", "sum", "tanh", "tile", "transpose",
      "transpose2", "tril_indices", "tril_triu", "unbind", "unsqueeze2", "unstack", "where"};
  // clang-format on
  return types.count(op.desc().type) > 0;
}

}  // namespace paddle_mini
