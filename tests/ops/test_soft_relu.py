"""soft_relu: Out = log(1 + exp(min(max(X, -threshold), threshold)))."""

import numpy as np

from families.unary import unary_tests

test_soft_relu = unary_tests(
    "soft_relu",
    lambda x, attrs: np.log(1 + np.exp(np.clip(x, -np.float32(attrs["threshold"]), np.float32(attrs["threshold"])))),
    domain=(-4, 4),
    attrs={"threshold": 2.0},
)
