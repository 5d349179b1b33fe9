"""bitwise_or: Out = the bits that are 1 in X or in Y."""

import numpy as np

from families.logic import bitwise_tests

test_bitwise_or = bitwise_tests("bitwise_or", np.bitwise_or)
