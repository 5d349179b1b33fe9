# Layer functions: each appends operators to the program that is being built and returns variables.
from .activation import pow, prelu, softshrink
from .control_flow import (
    ConditionalBlock, While, array_length, array_read, array_write, case, cond, create_array, switch_case,
    tensor_array_to_tensor, while_loop,
)
from .conv import adaptive_pool2d, conv2d, conv2d_transpose, pool2d
from .embedding import embedding
from .image import pad2d, resize_bilinear, resize_nearest
from .learning_rate import (
    cosine_decay, exponential_decay, inverse_time_decay, linear_lr_warmup, natural_exp_decay, noam_decay,
    piecewise_decay, polynomial_decay, pow2_decay_with_linear_warmup,
)
from .linear import fc, matmul
from .loss import (
    cross_entropy, huber_loss, label_smooth, log_loss, nll_loss, softmax_with_cross_entropy, square_error_cost,
)
from .metric import accuracy, auc, topk
from .norm import batch_norm, l2_normalize, layer_norm
from .ops import (
    abs, acos, acosh, asin, asinh, atan, atanh, bce_loss, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, brelu,
    ceil, celu, clip, clip_by_norm, cos, cosh, elementwise_add, elementwise_div, elementwise_floordiv,
    elementwise_fmax, elementwise_fmin, elementwise_max, elementwise_min, elementwise_mod, elementwise_mul,
    elementwise_pow, elementwise_sub, elu, equal, erf, exp, expm1, floor, gelu, get_tensor_from_selected_rows,
    greater_equal, greater_than, hard_shrink, hard_sigmoid, hard_swish, hinge_loss, isfinite, isinf, isnan,
    kldiv_loss, leaky_relu, less_equal, less_than, log, log10, log1p, log2, log_softmax, logical_and, logical_not,
    logical_or, logical_xor, logsigmoid, lookup_table, mean, merge_selected_rows, mish, mul, not_equal,
    pixel_shuffle, rank_loss, reciprocal, relu, relu6, round, rsqrt, scale, selu, shape, sigmoid,
    sigmoid_cross_entropy_with_logits, sign, silu, sin, sinh, softmax, softplus, softsign, sqrt, square,
    squared_l2_norm, stanh, swish, tan, tanh, tanh_shrink, thresholded_relu, trunc,
)
from .random import dropout, gaussian_random, truncated_gaussian_random, uniform_random
from .rearrange import (
    broadcast_to, expand, expand_as, flatten, flip, pad, reshape, roll, slice, split, squeeze, stack, strided_slice,
    tile, transpose, unbind, unsqueeze, unstack,
)
from .reduce import (
    argmax, argmin, cumsum, reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum,
)
from .select import gather, index_select, one_hot, where
from .tensor import (
    assign, cast, concat, create_global_var, create_parameter, data, fill_constant, fill_constant_batch_size_like,
    full_like, increment, ones, ones_like, sums, zeros, zeros_like,
)

__all__ = [
    "abs", "accuracy", "acos", "acosh", "adaptive_pool2d", "argmax", "argmin", "array_length", "array_read",
    "array_write", "asin", "asinh", "assign", "atan", "atanh", "auc", "batch_norm", "bce_loss", "bitwise_and",
    "bitwise_not", "bitwise_or", "bitwise_xor", "brelu", "broadcast_to", "case", "cast", "ceil", "celu", "clip",
    "clip_by_norm", "concat", "cond", "ConditionalBlock", "conv2d", "conv2d_transpose", "cos", "cosh", "cosine_decay",
    "create_array", "create_global_var", "create_parameter", "cross_entropy", "cumsum", "data", "dropout",
    "elementwise_add", "elementwise_div", "elementwise_floordiv", "elementwise_fmax", "elementwise_fmin",
    "elementwise_max", "elementwise_min", "elementwise_mod", "elementwise_mul", "elementwise_pow", "elementwise_sub",
    "elu", "embedding", "equal", "erf", "exp", "expand", "expand_as", "expm1", "exponential_decay", "fc",
    "fill_constant", "fill_constant_batch_size_like", "flatten", "flip", "floor", "full_like", "gather",
    "gaussian_random", "gelu", "get_tensor_from_selected_rows", "greater_equal", "greater_than", "hard_shrink",
    "hard_sigmoid", "hard_swish", "hinge_loss", "huber_loss", "increment", "index_select", "inverse_time_decay",
    "isfinite", "isinf", "isnan", "kldiv_loss", "l2_normalize", "label_smooth", "layer_norm", "leaky_relu",
    "less_equal", "less_than", "linear_lr_warmup", "log", "log10", "log1p", "log2", "log_loss", "log_softmax",
    "logical_and", "logical_not", "logical_or", "logical_xor", "logsigmoid", "lookup_table", "matmul", "mean",
    "merge_selected_rows", "mish", "mul", "natural_exp_decay", "nll_loss", "noam_decay", "not_equal", "one_hot",
    "ones", "ones_like", "pad", "pad2d", "piecewise_decay", "pixel_shuffle", "polynomial_decay", "pool2d", "pow",
    "pow2_decay_with_linear_warmup", "prelu", "rank_loss", "reciprocal", "reduce_all", "reduce_any", "reduce_max",
    "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "relu", "relu6", "reshape", "resize_bilinear",
    "resize_nearest", "roll", "round", "rsqrt", "scale", "selu", "shape", "sigmoid",
    "sigmoid_cross_entropy_with_logits", "sign", "silu", "sin", "sinh", "slice", "softmax",
    "softmax_with_cross_entropy", "softplus", "softshrink", "softsign", "split", "sqrt", "square",
    "square_error_cost", "squared_l2_norm", "squeeze", "stack", "stanh", "strided_slice", "sums", "swish",
    "switch_case", "tan", "tanh", "tanh_shrink", "tensor_array_to_tensor", "thresholded_relu", "tile", "topk",
    "transpose", "trunc", "truncated_gaussian_random", "unbind", "uniform_random", "unsqueeze", "unstack", "where",
    "While", "while_loop", "zeros", "zeros_like",
]
