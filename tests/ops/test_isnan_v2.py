"""isnan_v2: Out = whether X is NaN."""

import numpy as np

from families.logic import class_tests

test_isnan_v2 = class_tests("isnan_v2", np.isnan)
