"""trunc: Out = X without its fraction."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, integers_of, unary_tests

test_trunc = unary_tests(
    "trunc",
    np.trunc,
    domain=(-5, 5),
    special=[*ZEROS, 1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 1.0e10, -1.0e10, *NOT_FINITE],
    values_only=integers_of(3, 4),
    wrong_type="bool",
)
