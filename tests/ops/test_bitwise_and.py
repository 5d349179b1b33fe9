"""bitwise_and: Out = the bits that are 1 in X and in Y."""

import numpy as np

from families.logic import bitwise_tests

test_bitwise_and = bitwise_tests("bitwise_and", np.bitwise_and)
