"""conj: Out = the complex conjugates of X."""

from harness import array, complex_array, op_tests

CASES = {
    "matrix": ({"X": complex_array(3, 4)}, {}),
    "one element": ({"X": complex_array()}, {}),
    "no rows": ({"X": complex_array(0, 4)}, {}),
}

test_conj = op_tests(
    "conj", lambda inputs, attrs: {"Out": inputs["X"].conj()}, {**CASES, "real numbers": ({"X": array(3, 4)}, {})}, ["X"]
)
