"""eye: a matrix with 1 on the diagonal."""

import numpy as np

import paddle_mini as pm
from harness import op_tests


def reference(inputs, attrs):
    columns = attrs["num_rows"] if attrs["num_columns"] < 0 else attrs["num_columns"]
    dtype = {2: "int32", 3: "int64", 5: "float32", 6: "float64"}[attrs["dtype"]]
    return {"Out": np.eye(attrs["num_rows"], columns, dtype=dtype)}


test_eye = op_tests(
    "eye",
    reference,
    cases={
        "square": ({}, {"num_rows": 4}),
        "wide": ({}, {"num_rows": 2, "num_columns": 5, "dtype": 6}),
        "high": ({}, {"num_rows": 5, "num_columns": 2, "dtype": 3}),
        "one element": ({}, {"num_rows": 1, "dtype": 2}),
        "no rows": ({}, {"num_rows": 0, "num_columns": 3}),
        "no columns": ({}, {"num_rows": 3, "num_columns": 0}),
    },
    refusals={
        "fewer than no rows": ({}, {"num_rows": -1}, pm.ProgramError, "num_rows -1"),
        "no such type": ({}, {"num_rows": 2, "dtype": 99}, pm.ProgramError, "dtype 99"),
        "truths": ({}, {"num_rows": 2, "dtype": 0}, pm.ShapeError, "bool"),
        "too large": ({}, {"num_rows": 1 << 40}, pm.ShapeError, "1099511627776"),
    },
)
