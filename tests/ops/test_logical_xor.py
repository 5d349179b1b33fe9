"""logical_xor: Out = whether one of X and Y is true, the other is not."""

import numpy as np

from families.logic import logical_tests

test_logical_xor = logical_tests("logical_xor", np.logical_xor)
