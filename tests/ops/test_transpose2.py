"""transpose2: X with its axes in another order."""

import itertools

import paddle_mini as pm
from families.shapes import kinds_tests, transpose_reference, transpose_tests, x_shape_tests
from harness import array

KINDS = ("bool", "uint8", "int16", "int32", "int64")

test_transpose2 = transpose_tests(
    "transpose2",
    cases={
        **{f"four axes {order}": ({"X": array(2, 3, 4, 5)}, {"axis": list(order)}) for order in itertools.permutations(range(4))},
        "large matrix": ({"X": array(67, 131)}, {"axis": [1, 0]}),
        "axes of one": ({"X": array(1, 3, 1, 4)}, {"axis": [3, 0, 1, 2]}),
    },
    refusals={"no such axis": ({"X": array(3, 4)}, {"axis": [0, 2]}, pm.ShapeError, "axis 2")},
    unchecked=["XShape"],
)
test_kinds = kinds_tests("transpose2", transpose_reference, {"axis": [1, 0, 2]}, KINDS, (37, 41, 3), ())
test_x_shape = x_shape_tests("transpose2", {"axis": [1, 0]})
