"""reshape2: the elements of X, in their order, in another shape."""

import pytest

import paddle_mini as pm
from families.shapes import kinds_tests, reshape_reference, reshape_tests, x_shape_tests
from harness import array, run_op

test_reshape2 = reshape_tests(
    "reshape2",
    cases={
        "copied and worked out": ({"X": array(3, 4, 5)}, {"shape": [0, -1]}),
        "to a number": ({"X": array(1, 1)}, {"shape": []}),
        "no rows, worked out": ({"X": array(0, 4)}, {"shape": [0, -1, 2]}),
        "no rows, they worked out": ({"X": array(0, 4)}, {"shape": [-1, 2, 2]}),
    },
    refusals={
        "no integer": ({"X": array(3, 4)}, {"shape": [5, -1]}, pm.ShapeError, "[3, 4] [5, -1]"),
        "negative": ({"X": array(3, 4)}, {"shape": [-2, 6]}, pm.ProgramError, "shape -2"),
        "too large": ({"X": array(4)}, {"shape": [2147483647] * 8}, pm.ShapeError, "too many"),
    },
    unchecked=["XShape"],
)
test_kinds = kinds_tests("reshape2", reshape_reference, {"shape": [4, 3]}, unchecked=())
test_x_shape = x_shape_tests("reshape2", {"shape": [3]})


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
