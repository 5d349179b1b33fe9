"""logical_and: Out = whether X and Y are both true."""

import numpy as np

from families.logic import logical_tests

test_logical_and = logical_tests("logical_and", np.logical_and)
