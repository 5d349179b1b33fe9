"""swish: Out = X / (1 + exp(-beta X))."""

import numpy as np

from families.unary import unary_tests

test_swish = unary_tests("swish", lambda x, attrs: x / (1 + np.exp(-attrs["beta"] * x)), domain=(-3, 3), attrs={"beta": 1.5})
