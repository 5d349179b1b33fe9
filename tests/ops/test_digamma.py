"""digamma: Out = the derivative of log gamma(X)."""

import numpy as np

from families.gamma import polygamma
from families.unary import NOT_FINITE, ZEROS, unary_tests

test_digamma = unary_tests(
    "digamma",
    lambda x: polygamma(0, x),
    domain=(0.2, 6),
    special=[*ZEROS, 1.0, -1.0, -2.0, -0.5, -1.5, 100.0, -100.5, *NOT_FINITE],
)


def test_known_numbers():
    """Abramowitz and Stegun 6.3.2 to 6.3.4."""
    euler = 0.57721566490153286
    np.testing.assert_allclose(polygamma(0, np.array([1.0, 0.5])), [-euler, -euler - 2 * np.log(2)], rtol=1e-14)
