"""i1e: out = exp(-|x|) I1(x), a modified Bessel function."""

from families.bessel import bessel_tests

test_i1e = bessel_tests("i1e", order=1, is_scaled=True)
