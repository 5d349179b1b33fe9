"""greater_equal: Out = whether X >= Y."""

import numpy as np

from families.logic import comparison_tests

test_greater_equal = comparison_tests("greater_equal", np.greater_equal)
