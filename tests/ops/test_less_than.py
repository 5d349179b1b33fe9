"""less_than: Out = whether X < Y."""

import numpy as np

from families.logic import comparison_tests

test_less_than = comparison_tests("less_than", np.less)
