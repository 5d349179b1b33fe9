"""transpose: X with its axes in another order."""

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": inputs["X"].transpose(attrs["axis"])}


test_transpose = op_tests(
    "transpose",
    reference,
    cases={
        "matrix": ({"X": array(3, 4)}, {"axis": [1, 0]}),
        "heads": ({"X": array(2, 9, 4, 16)}, {"axis": [0, 2, 1, 3]}),
        "negative axes": ({"X": array(2, 3, 4)}, {"axis": [-1, 0, -2]}),
        "as it is": ({"X": array(2, 3)}, {"axis": [0, 1]}),
        "one element": ({"X": array()}, {"axis": []}),
        "no rows": ({"X": array(0, 4)}, {"axis": [1, 0]}),
    },
    gradients=["X"],
    refusals={
        "too few axes": ({"X": array(3, 4)}, {"axis": [0]}, pm.ShapeError, "axis 1 2"),
        "one axis twice": ({"X": array(3, 4)}, {"axis": [0, -2]}, pm.ShapeError, "axis -2 twice"),
        "no axes": ({"X": array(3, 4)}, {}, pm.ProgramError, "axis missing"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {"axis": [1, 0]}, pm.ShapeError, "X selected rows"),
    },
)

test_kinds = op_tests(
    "transpose",
    reference,
    cases={dtype: ({"X": ints(7, 4, 3, high=2).astype(dtype)}, {"axis": [1, 0, 2]}) for dtype in ("bool", "int32", "int64")},
)
