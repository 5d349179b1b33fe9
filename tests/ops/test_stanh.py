"""stanh: Out = scale_b tanh(scale_a X)."""

import numpy as np

from families.unary import unary_tests

test_stanh = unary_tests(
    "stanh",
    lambda x, attrs: attrs["scale_b"] * np.tanh(attrs["scale_a"] * x),
    domain=(-3, 3),
    attrs={"scale_a": 0.75, "scale_b": 1.5},
)
