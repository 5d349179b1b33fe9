"""thresholded_relu: Out = X where X > threshold, else 0."""

import numpy as np

from families.unary import unary_tests

test_thresholded_relu = unary_tests(
    "thresholded_relu", lambda x, attrs: np.where(x <= attrs["threshold"], 0, x), domain=(-3, 3), attrs={"threshold": 0.25}
)
