"""reshape2: the elements of X, in their order, in another shape."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    shape = [x.shape[i] if dim == 0 else dim for i, dim in enumerate(attrs["shape"])]
    known = int(np.prod([dim for dim in shape if dim != -1]))
    if -1 in shape and known == 0:  # NumPy can't infer it; the dimensions that are copied cancel
        copied = [i for i, dim in enumerate(attrs["shape"]) if dim == 0]
        rest = np.prod([dim for i, dim in enumerate(x.shape) if i not in copied])
        shape[shape.index(-1)] = int(rest // np.prod([dim for dim in attrs["shape"] if dim > 0]))
    return {"Out": x.reshape(shape)}


test_reshape2 = op_tests(
    "reshape2",
    reference,
    cases={
        "plain": ({"X": array(3, 4)}, {"shape": [2, 6]}),
        "worked out": ({"X": array(3, 4)}, {"shape": [-1, 2]}),
        "copied": ({"X": array(3, 4, 5)}, {"shape": [0, 0, 5, 1]}),
        "copied and worked out": ({"X": array(3, 4, 5)}, {"shape": [0, -1]}),
        "to a number": ({"X": array(1, 1)}, {"shape": []}),
        "one element": ({"X": array()}, {"shape": [1, -1]}),
        "no rows": ({"X": array(0, 4)}, {"shape": [0, 2, 2]}),
        "no rows, worked out": ({"X": array(0, 4)}, {"shape": [0, -1, 2]}),
        "no rows, they worked out": ({"X": array(0, 4)}, {"shape": [-1, 2, 2]}),
    },
    gradients=["X"],
    unchecked=["XShape"],
    refusals={
        "other count": ({"X": array(3, 4)}, {"shape": [5, 2]}, pm.ShapeError, "[3, 4] [5, 2]"),
        "not an integer": ({"X": array(3, 4)}, {"shape": [5, -1]}, pm.ShapeError, "[3, 4] [5, -1]"),
        "two to work out": ({"X": array(3, 4)}, {"shape": [-1, -1]}, pm.ProgramError, "shape -1"),
        "negative": ({"X": array(3, 4)}, {"shape": [-2, 6]}, pm.ProgramError, "shape -2"),
        "nothing to copy": ({"X": array(4)}, {"shape": [2, 0]}, pm.ShapeError, "dimension 1 [4]"),
        "too large": ({"X": array(4)}, {"shape": [2147483647] * 8}, pm.ShapeError, "too many"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {"shape": [6]}, pm.ShapeError, "X selected rows"),
    },
)

test_kinds = op_tests(
    "reshape2",
    reference,
    cases={dtype: ({"X": ints(3, 4, high=2).astype(dtype)}, {"shape": [4, 3]}) for dtype in ("bool", "uint8", "int64")},
)


def test_x_shape():
    """XShape has no data; it carries X's shape to the gradient."""
    found = run_op("reshape2", {"X": array(3, 4)}, {"shape": [12]}, outputs=["Out", "XShape"])
    assert found["XShape"].shape == (0, 3, 4)


def test_the_batch_may_be_unknown():
    block = pm.Program().global_block()
    block.create_var("x", dtype="float32", shape=[-1, 4, 6])
    known = {(0, -1): (-1, 24), (0, 3, 8): (-1, 3, 8), (-1, 24): (-1, 24), (-1, 0, 6): (-1, 4, 6)}
    for shape, expected in known.items():
        block.append_op("reshape2", {"X": "x"}, {"Out": f"out{shape}"}, {"shape": list(shape)})
        assert tuple(block.var(f"out{shape}").shape) == expected


def test_the_gradient_needs_x_shape():
    with pytest.raises(pm.ShapeError, match=r"Out@GRAD has shape \[5\], X had \[2, 3\]"):
        run_op("reshape2_grad", {"XShape": array(0, 2, 3), "Out@GRAD": array(5)})
    with pytest.raises(pm.ProgramError, match="XShape is missing"):
        run_op("reshape2_grad", {"Out@GRAD": array(6)})
