"""reciprocal: Out = 1 / X."""

from families.unary import NOT_FINITE, ZEROS, unary_tests

test_reciprocal = unary_tests("reciprocal", lambda x: 1 / x, domain=(0.5, 3), special=[*ZEROS, 1.0, -1.0, 1.0e10, *NOT_FINITE])
