"""inverse: Output = the inverses of the matrices in Input."""

import numpy as np

import paddle_mini as pm
from families.matrices import refused, regular
from harness import array, op_tests

SINGULAR = np.stack([np.eye(2), np.ones((2, 2)), np.zeros((2, 2))])

test_inverse = op_tests(
    "inverse",
    lambda inputs, attrs: {"Output": np.linalg.inv(inputs["Input"])},
    cases={
        "matrix": ({"Input": regular(3, 3)}, {}),
        "batch": ({"Input": regular(2, 3, 4, 4)}, {}),
        "one number": ({"Input": regular(1, 1)}, {}),
        "large": ({"Input": regular(1, 40, 40) + 20 * np.eye(40)}, {}),
        "rows change places": ({"Input": np.array([[0.0, 2], [1, 1]])}, {}),
        "no matrices": ({"Input": array(0, 3, 3)}, {}),
        "no rows": ({"Input": array(2, 0, 0)}, {}),
    },
    gradients=["Input"],
    refusals={**refused("Input"), "singular": ({"Input": SINGULAR}, {}, pm.OpError, "matrix 1 Input singular")},
)
