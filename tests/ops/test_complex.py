"""complex: complex numbers from their parts."""

import paddle_mini as pm
from harness import array, ints, op_tests

test_complex = op_tests(
    "complex",
    lambda inputs, attrs: {"Out": inputs["X"] + 1j * inputs["Y"]},
    {
        "matrix": ({"X": array(3, 4), "Y": array(3, 4, seed=1)}, {}),
        "a row of imaginary parts": ({"X": array(3, 4), "Y": array(4, seed=1)}, {}),
        "both are broadcast": ({"X": array(2, 3, 1), "Y": array(1, 4, seed=1)}, {}),
        "numbers": ({"X": array(), "Y": array(seed=1)}, {}),
        "no rows": ({"X": array(0, 4), "Y": array(0, 4)}, {}),
    },
    ["X", "Y"],
    {
        "integers": ({"X": ints(3), "Y": ints(3)}, {}, pm.ShapeError, "X is int64 float32 or float64"),
        "other shapes": ({"X": array(3), "Y": array(4)}, {}, pm.ShapeError, "[3] [4]"),
    },
)
