"""logical_or: Out = whether X or Y is true, or both."""

import numpy as np

from families.logic import logical_tests

test_logical_or = logical_tests("logical_or", np.logical_or)
