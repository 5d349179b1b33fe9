"""imag: Out = the imaginary parts of complex numbers."""

import paddle_mini as pm
from harness import array, complex_array, op_tests

CASES = {
    "matrix": ({"X": complex_array(3, 4)}, {}),
    "one element": ({"X": complex_array()}, {}),
    "no rows": ({"X": complex_array(0, 4)}, {}),
}
REAL = {"real numbers": ({"X": array(3)}, {}, pm.ShapeError, "X is float64 complex")}

test_imag = op_tests("imag", lambda inputs, attrs: {"Out": inputs["X"].imag.copy()}, CASES, ["X"], REAL)
