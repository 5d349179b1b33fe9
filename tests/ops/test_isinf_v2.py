"""isinf_v2: Out = whether X is infinity or minus infinity."""

import numpy as np

from families.logic import class_tests

test_isinf_v2 = class_tests("isinf_v2", np.isinf)
