"""i1: out = I1(x), a modified Bessel function."""

from families.bessel import bessel_tests

test_i1 = bessel_tests("i1", order=1, is_scaled=False)
