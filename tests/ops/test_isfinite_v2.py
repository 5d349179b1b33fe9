"""isfinite_v2: for each element of X, isfinite: for all together; Out = whether X is a finite number."""

import numpy as np

from families.logic import class_tests
from families.of_all import of_all_tests

test_isfinite_v2 = class_tests("isfinite_v2", np.isfinite)
test_isfinite = of_all_tests("isfinite", lambda x: np.isfinite(x).all())
