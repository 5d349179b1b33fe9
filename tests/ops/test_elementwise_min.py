"""elementwise_min: Out = min(X, Y)."""

import numpy as np

from families.binary import extreme_tests

test_elementwise_min, test_ties, test_nan = extreme_tests("elementwise_min", np.minimum, to_x=[5, 0, 0], to_y=[0, 6, 7])
