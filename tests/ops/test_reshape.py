"""reshape: the elements of X, in their order, in another shape."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    return {"Out": x.reshape([x.shape[i] if dim == 0 else dim for i, dim in enumerate(attrs["shape"])])}


test_reshape = op_tests(
    "reshape",
    reference,
    cases={
        "plain": ({"X": array(3, 4)}, {"shape": [2, 6]}),
        "worked out": ({"X": array(3, 4)}, {"shape": [-1, 2]}),
        "copied": ({"X": array(3, 4, 5)}, {"shape": [0, 0, 5, 1]}),
        "one element": ({"X": array()}, {"shape": [1, -1]}),
        "no rows": ({"X": array(0, 4)}, {"shape": [0, 2, 2]}),
    },
    gradients=["X"],
    refusals={
        "other count": ({"X": array(3, 4)}, {"shape": [5, 2]}, pm.ShapeError, "[3, 4] [5, 2]"),
        "two to work out": ({"X": array(3, 4)}, {"shape": [-1, -1]}, pm.ProgramError, "shape -1"),
        "nothing to copy": ({"X": array(4)}, {"shape": [2, 0]}, pm.ShapeError, "dimension 1 [4]"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {"shape": [6]}, pm.ShapeError, "X selected rows"),
    },
)

test_kinds = op_tests(
    "reshape",
    reference,
    cases={dtype: ({"X": ints(3, 4, high=2).astype(dtype)}, {"shape": [4, 3]}) for dtype in ("bool", "uint8", "int64")},
)


def test_the_gradient_refuses_another_count():
    with pytest.raises(pm.ShapeError, match=r"Out@GRAD has shape \[5\], X had \[2, 3\]"):
        run_op("reshape_grad", {"X": array(2, 3), "Out@GRAD": np.zeros(5)})
