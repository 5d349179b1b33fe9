"""one_hot_v2: 1 at the position that X names along a new last axis."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests

DTYPES = {2: "int32", 3: "int64", 5: "float32", 6: "float64"}


def reference(inputs, attrs):
    hot = inputs["X"][..., None] == np.arange(attrs["depth"])
    return {"Out": hot.astype(DTYPES[attrs["dtype"]])}


test_one_hot_v2 = op_tests(
    "one_hot_v2",
    reference,
    cases={
        "list": ({"X": ints(6)}, {"depth": 10}),
        "matrix": ({"X": ints(3, 2, dtype="int32")}, {"depth": 10, "dtype": 6}),
        "integers": ({"X": ints(3)}, {"depth": 10, "dtype": 2}),
        "out of range": ({"X": np.array([-1, 2, 3, 2**40])}, {"depth": 3, "allow_out_of_range": True, "dtype": 3}),
        "one element": ({"X": np.array(1)}, {"depth": 2}),
        "no rows": ({"X": ints(0, 4)}, {"depth": 2}),
    },
    refusals={
        "too high": ({"X": np.array([0, 3])}, {"depth": 3}, pm.OpError, "3 position 1"),
        "negative": ({"X": np.array([-1])}, {"depth": 3}, pm.OpError, "-1"),
        "no depth": ({"X": ints(3)}, {}, pm.ProgramError, "depth -1"),
        "float positions": ({"X": array(3)}, {"depth": 3}, pm.ShapeError, "X float64"),
        "no such type": ({"X": ints(3)}, {"depth": 10, "dtype": 99}, pm.ProgramError, "dtype 99"),
    },
)
