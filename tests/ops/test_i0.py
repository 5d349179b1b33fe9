"""i0: out = I0(x), a modified Bessel function."""

from families.bessel import bessel_tests

test_i0 = bessel_tests("i0", order=0, is_scaled=False)
