"""as_real and as_complex: complex numbers as pairs of real ones, and the inverse."""

import numpy as np

import paddle_mini as pm
from harness import array, complex_array, op_tests

test_as_real = op_tests(
    "as_real",
    lambda inputs, attrs: {"Out": np.stack([inputs["X"].real, inputs["X"].imag], -1)},
    {"matrix": ({"X": complex_array(3, 4)}, {}), "one element": ({"X": complex_array()}, {})},
    ["X"],
    {"real numbers": ({"X": array(3)}, {}, pm.ShapeError, "X is float64 complex")},
)
test_as_complex = op_tests(
    "as_complex",
    lambda inputs, attrs: {"Out": inputs["X"][..., 0] + 1j * inputs["X"][..., 1]},
    {"matrix": ({"X": array(3, 4, 2)}, {}), "one element": ({"X": array(2)}, {})},
    ["X"],
    {
        "no pairs": ({"X": array(3, 4)}, {}, pm.ShapeError, "X has shape [3, 4] must be 2"),
        "a number": ({"X": array()}, {}, pm.ShapeError, "X has shape [] must be 2"),
    },
)
