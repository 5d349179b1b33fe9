"""log1p: Out = log(1 + X)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_log1p = unary_tests(
    "log1p", np.log1p, domain=(-0.5, 3), special=[*ZEROS, 1.0, -1.0, -2.0, 1.0e-10, *NOT_FINITE], wrong_type="bool"
)
