"""elementwise_add: Out = X + Y."""

import numpy as np

from families.binary import binary_tests

test_elementwise_add = binary_tests("elementwise_add", np.add)
