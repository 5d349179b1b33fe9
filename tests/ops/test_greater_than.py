"""greater_than: Out = whether X > Y."""

import numpy as np

from families.logic import comparison_tests

test_greater_than = comparison_tests("greater_than", np.greater)
