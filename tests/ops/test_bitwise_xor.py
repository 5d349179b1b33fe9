"""bitwise_xor: Out = the bits that are 1 in one of X and Y only."""

import numpy as np

from families.logic import bitwise_tests

test_bitwise_xor = bitwise_tests("bitwise_xor", np.bitwise_xor)
