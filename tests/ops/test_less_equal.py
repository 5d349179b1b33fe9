"""less_equal: Out = whether X <= Y."""

import numpy as np

from families.logic import comparison_tests

test_less_equal = comparison_tests("less_equal", np.less_equal)
