"""hard_swish: Out = X min(max(X + offset, 0), threshold) / scale."""

import numpy as np

import paddle_mini as pm
from families.unary import unary_tests
from harness import array

test_hard_swish = unary_tests(
    "hard_swish",
    lambda x, attrs: x * np.minimum(np.maximum(x + attrs["offset"], 0), attrs["threshold"]) / attrs["scale"],
    domain=(-5, 5),
    attrs={"threshold": 4.0, "scale": 5.0, "offset": 2.0},
    refusals={"scale 0": ({"X": array(3)}, {"scale": 0.0}, pm.ProgramError, "scale 0")},
)
