"""real: Out = the real parts of complex numbers."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, complex_array, op_tests, run_op

CASES = {
    "matrix": ({"X": complex_array(3, 4)}, {}),
    "long": ({"X": complex_array(1003)}, {}),
    "one element": ({"X": complex_array()}, {}),
    "no rows": ({"X": complex_array(0, 4)}, {}),
}
REAL = {"real numbers": ({"X": array(3)}, {}, pm.ShapeError, "X is float64 complex")}

test_real = op_tests("real", lambda inputs, attrs: {"Out": inputs["X"].real.copy()}, CASES, ["X"], REAL)


@pytest.mark.parametrize("op_type", ["relu", "less_than", "elementwise_max", "floor", "softmax"])
def test_what_complex_numbers_lack_is_refused(op_type):
    ports = ("X", "Y") if op_type in ("less_than", "elementwise_max") else ("X",)
    with pytest.raises(pm.Error, match="no kernel for complex64"):
        run_op(op_type, dict.fromkeys(ports, np.ones((2, 3), "complex64")))
