"""i0e: out = exp(-|x|) I0(x), a modified Bessel function."""

from families.bessel import bessel_tests

test_i0e = bessel_tests("i0e", order=0, is_scaled=True)
