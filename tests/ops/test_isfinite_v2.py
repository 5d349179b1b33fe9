"""isfinite_v2: Out = whether X is a finite number."""

import numpy as np

from families.logic import class_tests

test_isfinite_v2 = class_tests("isfinite_v2", np.isfinite)
