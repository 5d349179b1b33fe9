"""slogdeterminant: Out = the signs of determinants, and the logarithms of their absolute values."""

import numpy as np

from families.matrices import refused, regular
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    with np.errstate(all="ignore"):
        return {"Out": np.stack(np.linalg.slogdet(inputs["Input"]))}


test_slogdeterminant = op_tests(
    "slogdeterminant",
    reference,
    cases={
        "matrix": ({"Input": regular(3, 3)}, {}),
        "batch": ({"Input": regular(2, 3, 4, 4)}, {}),
        "negative": ({"Input": np.array([[0.0, 2], [1, 1]])}, {}),
        "too large for a number": ({"Input": 1e3 * regular(2, 30, 30)}, {}),
        "no matrices": ({"Input": array(0, 3, 3)}, {}),
    },
    gradients=["Input"],
    values_only={"singular": ({"Input": np.stack([np.ones((3, 3)), np.zeros((3, 3))])}, {})},
    refusals=refused("Input"),
)


def test_the_gradient_of_a_singular_matrix_is_not_a_number():
    inputs = {"Input": np.ones((2, 2)), "Out": np.array([0, -np.inf]), "Out@GRAD": np.ones(2)}
    assert np.isnan(run_op("slogdeterminant_grad", inputs)["Input@GRAD"]).all()
