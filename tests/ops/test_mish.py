"""mish: Out = X tanh(log(1 + exp(X)))."""

import numpy as np

from families.unary import unary_tests

test_mish = unary_tests("mish", lambda x, attrs: x * np.tanh(np.logaddexp(0, x)), domain=(-3, 3), attrs={"threshold": 30.0})
