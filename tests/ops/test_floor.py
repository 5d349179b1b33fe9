"""floor: Out = the greatest integer not above X."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_floor = unary_tests(
    "floor", np.floor, domain=(-5, 5), special=[*ZEROS, 1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 1.0e10, -1.0e10, *NOT_FINITE]
)
