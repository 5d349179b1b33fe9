"""transpose2: X with its axes in another order."""

import itertools

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    return {"Out": inputs["X"].transpose(attrs["axis"])}


test_transpose2 = op_tests(
    "transpose2",
    reference,
    cases={
        **{f"four axes {order}": ({"X": array(2, 3, 4, 5)}, {"axis": list(order)}) for order in itertools.permutations(range(4))},
        "matrix": ({"X": array(3, 4)}, {"axis": [1, 0]}),
        "large matrix": ({"X": array(67, 131)}, {"axis": [1, 0]}),
        "heads": ({"X": array(2, 9, 4, 16)}, {"axis": [0, 2, 1, 3]}),
        "axes of one": ({"X": array(1, 3, 1, 4)}, {"axis": [3, 0, 1, 2]}),
        "negative axes": ({"X": array(2, 3, 4)}, {"axis": [-1, 0, -2]}),
        "as it is": ({"X": array(2, 3)}, {"axis": [0, 1]}),
        "one element": ({"X": array()}, {"axis": []}),
        "no rows": ({"X": array(0, 4)}, {"axis": [1, 0]}),
    },
    gradients=["X"],
    unchecked=["XShape"],
    refusals={
        "too few axes": ({"X": array(3, 4)}, {"axis": [0]}, pm.ShapeError, "axis 1 2"),
        "one axis twice": ({"X": array(3, 4)}, {"axis": [0, -2]}, pm.ShapeError, "axis -2 twice"),
        "no such axis": ({"X": array(3, 4)}, {"axis": [0, 2]}, pm.ShapeError, "axis 2"),
        "no axes": ({"X": array(3, 4)}, {}, pm.ProgramError, "axis missing"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {"axis": [1, 0]}, pm.ShapeError, "X selected rows"),
    },
)

test_kinds = op_tests(
    "transpose2",
    reference,
    cases={
        dtype: ({"X": ints(37, 41, 3, high=2).astype(dtype)}, {"axis": [1, 0, 2]})
        for dtype in ("bool", "uint8", "int16", "int32", "int64")
    },
)


def test_x_shape():
    found = run_op("transpose2", {"X": array(3, 4)}, {"axis": [1, 0]}, outputs=["Out", "XShape"])
    assert found["XShape"].shape == (0, 3, 4)
