"""selu: Out = scale X where X > 0, else scale alpha (exp(X) - 1)."""

import numpy as np

from families.unary import unary_tests

test_selu = unary_tests(
    "selu",
    lambda x, attrs: attrs["scale"] * np.where(x > 0, x, attrs["alpha"] * np.expm1(x)),
    domain=(-3, 3),
    attrs={"scale": 1.25, "alpha": 1.5},
)
