"""leaky_relu: Out = X where X > 0, else alpha X."""

import numpy as np

from families.unary import unary_tests

test_leaky_relu = unary_tests(
    "leaky_relu", lambda x, attrs: np.where(x > 0, x, attrs["alpha"] * x), domain=(-3, 3), attrs={"alpha": 0.25}
)
