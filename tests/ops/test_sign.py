"""sign: 1 where X > 0, -1 where X < 0, 0 where X is 0."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, integers_of, unary_tests

test_sign = unary_tests(
    "sign", np.sign, domain=(-1, 1), special=[*ZEROS, *NOT_FINITE], values_only=integers_of(3, 5), wrong_type=None
)
