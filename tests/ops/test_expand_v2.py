"""expand_v2: X with its axes of 1 broadcast."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    missing = len(attrs["shape"]) - x.ndim
    shape = [x.shape[i - missing] if dim == -1 else dim for i, dim in enumerate(attrs["shape"])]
    return {"Out": np.broadcast_to(x, shape)}


test_expand_v2 = op_tests(
    "expand_v2",
    reference,
    cases={
        "rows": ({"X": array(1, 4)}, {"shape": [3, 4]}),
        "columns": ({"X": array(3, 1)}, {"shape": [3, 4]}),
        "new axis": ({"X": array(3, 4)}, {"shape": [2, 3, 4]}),
        "between": ({"X": array(2, 1, 3)}, {"shape": [2, 4, 3]}),
        "same": ({"X": array(2, 3)}, {"shape": [2, 3]}),
        "one element": ({"X": array()}, {"shape": [2, 3]}),
        "no rows": ({"X": array(0, 1)}, {"shape": [0, 4]}),
        "kept": ({"X": array(3, 1)}, {"shape": [-1, 4]}),
    },
    gradients=["X"],
    values_only={"integers": ({"X": ints(1, 4)}, {"shape": [3, 4]})},
    refusals={
        "does not fit": ({"X": array(3, 4)}, {"shape": [3, 5]}, pm.ShapeError, "[3, 4] [3, 5]"),
        "fewer axes": ({"X": array(3, 4)}, {"shape": [4]}, pm.ShapeError, "X 3, 4"),
        "negative": ({"X": array(3)}, {"shape": [-2]}, pm.ProgramError, "shape -2"),
        "nothing to keep": ({"X": array(3)}, {"shape": [-1, 3]}, pm.ProgramError, "shape -1"),
    },
)
