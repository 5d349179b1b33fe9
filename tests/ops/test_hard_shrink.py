"""hard_shrink: Out = X where |X| > threshold, else 0."""

import numpy as np

from families.unary import unary_tests

test_hard_shrink = unary_tests(
    "hard_shrink", lambda x, attrs: np.where(np.abs(x) <= attrs["threshold"], 0, x), domain=(-3, 3), attrs={"threshold": 0.75}
)
