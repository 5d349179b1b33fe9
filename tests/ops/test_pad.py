"""pad: X with a border of a constant."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    pairs = [tuple(attrs["paddings"][i : i + 2]) for i in range(0, len(attrs["paddings"]), 2)]
    x = inputs["X"]
    return {"Out": np.pad(x, pairs, constant_values=attrs["pad_value"]) if x.ndim else x}


test_pad = op_tests(
    "pad",
    reference,
    cases={
        "matrix": ({"X": array(3, 4)}, {"paddings": [1, 2, 0, 3], "pad_value": 0.5}),
        "columns": ({"X": array(3, 4)}, {"paddings": [0, 0, 1, 1]}),
        "volume": ({"X": array(2, 3, 2)}, {"paddings": [0, 1, 0, 0, 1, 0]}),
        "a number": ({"X": array()}, {"paddings": []}),
        "one element": ({"X": array(1)}, {"paddings": [1, 1]}),
        "no rows": ({"X": array(0, 4)}, {"paddings": [1, 0, 0, 0]}),
    },
    gradients=["X"],
    values_only={"integers": ({"X": ints(3)}, {"paddings": [1, 1], "pad_value": 7.0})},
    refusals={
        "other count": ({"X": array(3)}, {"paddings": [1]}, pm.ShapeError, "paddings 1 2"),
        "negative": ({"X": array(3)}, {"paddings": [1, -1]}, pm.ProgramError, "paddings -1"),
    },
)
