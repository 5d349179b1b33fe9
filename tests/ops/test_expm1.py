"""expm1: Out = exp(X) - 1."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_expm1 = unary_tests(
    "expm1", np.expm1, domain=(-2, 2), special=[*ZEROS, 1.0, -1.0, 1.0e-10, 800.0, -800.0, *NOT_FINITE], wrong_type="bool"
)
