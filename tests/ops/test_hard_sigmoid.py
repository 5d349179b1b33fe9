"""hard_sigmoid: Out = min(max(slope X + offset, 0), 1)."""

import numpy as np

from families.unary import unary_tests

test_hard_sigmoid = unary_tests(
    "hard_sigmoid",
    lambda x, attrs: np.minimum(np.maximum(x * attrs["slope"] + attrs["offset"], 0), 1),
    domain=(-4, 4),
    attrs={"slope": 0.25, "offset": 0.75},
)
