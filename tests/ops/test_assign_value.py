"""assign_value: the values stored in the program."""

import numpy as np

import paddle_mini as pm
from harness import op_tests

ATTRS = {
    0: ("bool_values", "bool"),
    2: ("int32_values", "int32"),
    3: ("int64_values", "int64"),
    5: ("fp32_values", "float32"),
    6: ("fp64_values", "float64"),
}


def reference(inputs, attrs):
    name, dtype = ATTRS[attrs["dtype"]]
    return {"Out": np.array(attrs[name], dtype).reshape(attrs["shape"])}


test_assign_value = op_tests(
    "assign_value",
    reference,
    cases={
        "float32": ({}, {"shape": [2, 2], "dtype": 5, "fp32_values": [0.1, -2.0, 3e30, 0.0]}),
        "float64": ({}, {"shape": [2], "dtype": 6, "fp64_values": [0.1, 1e300]}),
        "int32": ({}, {"shape": [3], "dtype": 2, "int32_values": [-1, 0, 2147483647]}),
        "int64": ({}, {"shape": [1], "dtype": 3, "int64_values": [-(1 << 62)]}),
        "bool": ({}, {"shape": [3], "dtype": 0, "bool_values": [0, 1, 1]}),
        "one element": ({}, {"shape": [], "dtype": 5, "fp32_values": [0.5]}),
        "no rows": ({}, {"shape": [0, 4], "dtype": 5}),
    },
    refusals={
        "too few values": ({}, {"shape": [2, 2], "dtype": 5, "fp32_values": [1.0]}, pm.ProgramError, "fp32_values 1 [2, 2] 4"),
        "values of another type": ({}, {"shape": [1], "dtype": 3, "fp32_values": [1.0]}, pm.ProgramError, "int64_values 0"),
        "unknown size": ({}, {"shape": [-1], "dtype": 5}, pm.ProgramError, "shape -1"),
        "no values of this type": ({}, {"shape": [0], "dtype": 20}, pm.ProgramError, "dtype uint8"),
        "no such type": ({}, {"shape": [0], "dtype": 7}, pm.ProgramError, "dtype 7"),
        "no shape": ({}, {"dtype": 5}, pm.ProgramError, "shape missing"),
    },
)
