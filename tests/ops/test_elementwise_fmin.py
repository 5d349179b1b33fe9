"""elementwise_fmin: Out = min(X, Y) where both are numbers."""

import numpy as np

from families.binary import number_extreme_tests

test_elementwise_fmin, test_ties_and_nan = number_extreme_tests(
    "elementwise_fmin", np.fmin, to_x=[5, 6, 0, 0, 9, 4], to_y=[0, 0, 7, 8, 0, 0]
)
