"""relu6: Out = min(max(X, 0), threshold)."""

import numpy as np

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_relu6 = unary_tests(
    "relu6",
    lambda x, attrs: np.minimum(np.maximum(x, 0), attrs["threshold"]),
    domain=(-4, 4),
    special=[*ZEROS, 1.0, 6.0, 100.0, -100.0, *NOT_FINITE],
    attrs={"threshold": 1.5},
)
