"""exp: Out = e^X."""

import numpy as np

from families.unary import NOT_FINITE, special_values, unary_reference, unary_tests
from harness import op_tests

test_exp = unary_tests("exp", np.exp, domain=(-3, 3), special=[], wrong_type="bool")
test_special_values = op_tests(
    "exp",
    unary_reference(lambda x, attrs: np.exp(x)),
    special_values([0.0, *NOT_FINITE, 87.0, -87.0, 2000.0, -2000.0]),
    tolerance={"float32": 1e-5},  # relative to e^87
)
