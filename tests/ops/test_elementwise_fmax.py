"""elementwise_fmax: Out = max(X, Y) where both are numbers."""

import numpy as np

from families.binary import number_extreme_tests

test_elementwise_fmax, test_ties_and_nan = number_extreme_tests(
    "elementwise_fmax", np.fmax, to_x=[0, 6, 7, 0, 9, 4], to_y=[5, 0, 0, 8, 0, 0]
)
