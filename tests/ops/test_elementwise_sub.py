"""elementwise_sub: Out = X - Y."""

import numpy as np

from families.binary import binary_tests

test_elementwise_sub = binary_tests("elementwise_sub", np.subtract)
