# Layer functions: each appends operators to the program that is being built and returns variables.
from .conv import conv2d, pool2d
from .embedding import embedding
from .linear import fc, matmul
from .loss import cross_entropy, softmax_with_cross_entropy, square_error_cost
from .metric import accuracy, topk
from .norm import batch_norm
from .ops import (
    abs, clip, elementwise_add, elementwise_div, elementwise_max, elementwise_min, elementwise_mul, elementwise_sub,
    exp, log, mean, mul, relu, scale, sigmoid, sign, softmax, sqrt, square, squared_l2_norm, tanh,
)
from .random import dropout
from .tensor import (
    assign, cast, concat, create_global_var, create_parameter, data, fill_constant, flatten, increment, ones,
    reduce_mean, reduce_sum, reshape, sums, transpose, zeros,
)

__all__ = [
    "abs", "accuracy", "assign", "batch_norm", "cast", "clip", "concat", "conv2d", "create_global_var",
    "create_parameter", "cross_entropy", "data", "dropout", "elementwise_add", "elementwise_div", "elementwise_max",
    "elementwise_min", "elementwise_mul", "elementwise_sub", "embedding", "exp", "fc", "fill_constant", "flatten",
    "increment", "log", "matmul", "mean", "mul", "ones", "pool2d", "reduce_mean", "reduce_sum", "relu", "reshape",
    "scale", "sigmoid", "sign", "softmax", "softmax_with_cross_entropy", "sqrt", "square", "square_error_cost",
    "squared_l2_norm", "sums", "tanh", "topk", "transpose", "zeros",
]
