"""fill_any_like: Out = value, everywhere, in the shape of X."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests

NAMES = {0: "bool", 2: "int32", 3: "int64", 5: "float32", 6: "float64", 20: "uint8"}


def reference(inputs, attrs):
    x = inputs["X"]
    return {"Out": np.full(x.shape, np.float32(attrs["value"]), NAMES.get(attrs["dtype"], x.dtype))}


test_fill_any_like = op_tests(
    "fill_any_like",
    reference,
    cases={
        "zeros": ({"X": array(3, 4)}, {}),
        "value": ({"X": array(3, 4)}, {"value": -2.5}),
        "integers": ({"X": ints(3, 4, dtype="int32")}, {"value": 7.0}),
        **{f"as {name}": ({"X": array(3, 4)}, {"value": 1.0, "dtype": number}) for number, name in NAMES.items()},
        "one element": ({"X": array()}, {"value": 1.0}),
        "no rows": ({"X": array(0, 4)}, {"value": 1.0}),
    },
    refusals={
        "too large": ({"X": array(3)}, {"value": 300.0, "dtype": 20}, pm.ProgramError, "300 uint8"),
        "no such type": ({"X": array(3)}, {"dtype": 7}, pm.ProgramError, "dtype 7"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
    },
)
