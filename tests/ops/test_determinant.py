"""determinant: Out = the determinants of the matrices in Input."""

import numpy as np

from families.matrices import refused, regular
from harness import array, op_tests, run_op

test_determinant = op_tests(
    "determinant",
    lambda inputs, attrs: {"Out": np.linalg.det(inputs["Input"])},
    cases={
        "matrix": ({"Input": regular(3, 3)}, {}),
        "batch": ({"Input": regular(2, 3, 4, 4)}, {}),
        "negative": ({"Input": np.array([[0.0, 2], [1, 1]])}, {}),
        "one number": ({"Input": regular(1, 1)}, {}),
        "no matrices": ({"Input": array(0, 3, 3)}, {}),
        "no rows": ({"Input": array(2, 0, 0)}, {}),
    },
    gradients=["Input"],
    values_only={"singular": ({"Input": np.stack([np.ones((3, 3)), np.zeros((3, 3))])}, {})},
    refusals=refused("Input"),
)


def test_the_gradient_of_a_singular_matrix_is_zero():
    """The numbers are PaddlePaddle's."""
    found = run_op("determinant_grad", {"Input": np.ones((2, 2)), "Out": np.array(0.0), "Out@GRAD": np.array(1.0)})
    np.testing.assert_array_equal(found["Input@GRAD"], np.zeros((2, 2)))
