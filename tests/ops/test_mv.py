"""mv: Out = X Vec, a matrix by a vector."""

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": inputs["X"] @ inputs["Vec"]}


test_mv = op_tests(
    "mv",
    reference,
    cases={
        "matrix": ({"X": array(3, 4), "Vec": array(4)}, {}),
        "large": ({"X": array(37, 70), "Vec": array(70)}, {}),
        "one element": ({"X": array(1, 1), "Vec": array(1)}, {}),
        "no rows": ({"X": array(0, 4), "Vec": array(4)}, {}),
        "no columns": ({"X": array(3, 0), "Vec": array(0)}, {}),
    },
    gradients=["X", "Vec"],
    refusals={
        "other width": ({"X": array(3, 4), "Vec": array(3)}, {}, pm.ShapeError, "X [3, 4] Vec 3"),
        "stack": ({"X": array(2, 3, 4), "Vec": array(4)}, {}, pm.ShapeError, "X 3 2"),
        "column": ({"X": array(3, 4), "Vec": array(4, 1)}, {}, pm.ShapeError, "Vec 2 1"),
        "integers": ({"X": ints(3, 4), "Vec": ints(4)}, {}, pm.Error, "int64"),
    },
)
