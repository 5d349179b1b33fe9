# The operators that ONNX and this runtime have alike: load reads these tables in one direction, export in the other.
from __future__ import annotations

UNARY = {
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan", "Atanh": "atanh",
    "BitwiseNot": "bitwise_not", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor",
    "IsNaN": "isnan_v2", "Log": "log", "Not": "logical_not", "Reciprocal": "reciprocal", "Relu": "relu", "Sigmoid": "sigmoid",
    "Sign": "sign", "Sin": "sin", "Sinh": "sinh", "Softsign": "softsign", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh",
}  # fmt: skip
"""Operators from X to Out, without attributes."""

BINARY = {
    "Add": "elementwise_add", "And": "logical_and", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor", "Div": "elementwise_div", "Equal": "equal", "Greater": "greater_than",
    "GreaterOrEqual": "greater_equal", "Less": "less_than", "LessOrEqual": "less_equal", "Mul": "elementwise_mul",
    "Or": "logical_or", "Sub": "elementwise_sub", "Xor": "logical_xor",
}  # fmt: skip
"""Operators from X and Y, which are broadcast, to Out."""

VARIADIC = {"Max": "elementwise_max", "Min": "elementwise_min"}
"""Operators of any number of inputs in ONNX, of two here."""

WITH_ATTRIBUTES = {
    "Celu": ("celu", {"alpha": "alpha"}),
    "Elu": ("elu", {"alpha": "alpha"}),
    "HardSigmoid": ("hard_sigmoid", {"alpha": "slope", "beta": "offset"}),
    "LeakyRelu": ("leaky_relu", {"alpha": "alpha"}),
    "LogSoftmax": ("log_softmax", {"axis": "axis"}),
    "Softmax": ("softmax", {"axis": "axis"}),
    "ThresholdedRelu": ("thresholded_relu", {"alpha": "threshold"}),
}
"""Operators from X to Out whose attributes differ in their names only."""

REDUCTIONS = {
    "ReduceMax": "reduce_max", "ReduceMean": "reduce_mean", "ReduceMin": "reduce_min", "ReduceProd": "reduce_prod",
    "ReduceSum": "reduce_sum",
}  # fmt: skip

SCATTER_REDUCTIONS = {"none": "assign", "add": "add", "mul": "mul", "max": "amax", "min": "amin"}
"""Attribute `reduction` of ScatterElements, and attribute `Reduce` of put_along_axis."""

RECURRENT = {
    "LSTM": ("LSTM", ["Sigmoid", "Tanh", "Tanh"], [0, 2, 3, 1]),
    "GRU": ("GRU", ["Sigmoid", "Tanh"], [1, 0, 2]),
    "RNN": ("RNN_TANH", ["Tanh"], [0]),
}
"""The mode of the operator rnn, ONNX's default activations, and the places of ONNX's gates in the order of rnn."""
