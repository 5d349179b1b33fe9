"""isnan_v2: for each element of X, isnan: for all together; Out = whether X is NaN."""

import numpy as np

from families.logic import class_tests
from families.of_all import of_all_tests

test_isnan_v2 = class_tests("isnan_v2", np.isnan)
test_isnan = of_all_tests("isnan", lambda x: np.isnan(x).any())
