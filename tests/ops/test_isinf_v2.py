"""isinf_v2: for each element of X, isinf: for all together; Out = whether X is infinity or minus infinity."""

import numpy as np

from families.logic import class_tests
from families.of_all import of_all_tests

test_isinf_v2 = class_tests("isinf_v2", np.isinf)
test_isinf = of_all_tests("isinf", lambda x: np.isinf(x).any())
