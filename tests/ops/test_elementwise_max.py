"""elementwise_max: Out = max(X, Y)."""

import numpy as np

from families.binary import extreme_tests

test_elementwise_max, test_ties, test_nan = extreme_tests("elementwise_max", np.maximum, to_x=[0, 0, 7], to_y=[5, 6, 0])
