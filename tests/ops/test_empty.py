"""empty: a tensor of a shape; its elements are 0."""

import numpy as np

import paddle_mini as pm
from harness import op_tests

NAMES = {0: "bool", 1: "int16", 2: "int32", 3: "int64", 5: "float32", 6: "float64", 20: "uint8", 21: "int8"}


def reference(inputs, attrs):
    return {"Out": np.zeros(attrs["shape"], NAMES[attrs["dtype"]])}


test_empty = op_tests(
    "empty",
    reference,
    cases={
        **{name: ({}, {"shape": [3, 4], "dtype": number}) for number, name in NAMES.items()},
        "one element": ({}, {"shape": []}),
        "no rows": ({}, {"shape": [0, 4]}),
    },
    refusals={
        "unknown size": ({}, {"shape": [-1]}, pm.ProgramError, "shape -1"),
        "no such type": ({}, {"shape": [1], "dtype": 99}, pm.ProgramError, "dtype 99"),
    },
)
