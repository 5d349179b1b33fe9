"""tanh_shrink: Out = X - tanh(X)."""

import numpy as np

from families.unary import unary_tests

test_tanh_shrink = unary_tests("tanh_shrink", lambda x: x - np.tanh(x), domain=(-3, 3))
