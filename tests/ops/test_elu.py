"""elu: Out = X where X >= 0, else alpha (exp(X) - 1)."""

import numpy as np

from families.unary import unary_tests

test_elu = unary_tests(
    "elu", lambda x, attrs: np.where(x < 0, attrs["alpha"] * np.expm1(x), x), domain=(-3, 3), attrs={"alpha": 1.5}
)
