"""brelu: Out = min(max(X, t_min), t_max)."""

import numpy as np

from families.unary import unary_tests

test_brelu = unary_tests(
    "brelu",
    lambda x, attrs: np.minimum(np.maximum(x, attrs["t_min"]), attrs["t_max"]),
    domain=(-4, 4),
    attrs={"t_min": -1.0, "t_max": 1.5},
)
