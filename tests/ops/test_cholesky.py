"""cholesky: Out = L, lower triangular with L L^T = X."""

import numpy as np
import pytest

import paddle_mini as pm
from families.matrices import check_symmetric_gradient, positive, refused
from harness import array, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    lower = np.tril(x) + np.tril(x, -1).swapaxes(-1, -2)
    upper = np.triu(x) + np.triu(x, 1).swapaxes(-1, -2)
    return {"Out": np.linalg.cholesky(upper).swapaxes(-1, -2) if attrs["upper"] else np.linalg.cholesky(lower)}


NOT_POSITIVE = np.stack([np.eye(2), np.array([[1.0, 2], [2, 1]])])

test_cholesky = op_tests(
    "cholesky",
    reference,
    cases={
        "matrix": ({"X": positive(3, 3)}, {}),
        "upper": ({"X": positive(3, 3)}, {"upper": True}),
        "batch": ({"X": positive(2, 3, 4, 4)}, {}),
        "only the lower triangle is read": ({"X": positive(3, 3) + np.triu(array(3, 3), 1)}, {}),
        "only the upper triangle is read": ({"X": positive(3, 3) + np.tril(array(3, 3), -1)}, {"upper": True}),
        "no matrices": ({"X": array(0, 3, 3)}, {}),
    },
    refusals={**refused("X"), "not positive": ({"X": NOT_POSITIVE}, {}, pm.OpError, "matrix 1 X positive definite")},
)


@pytest.mark.parametrize("upper", [False, True])
def test_gradient(upper):
    check_symmetric_gradient("cholesky", {"Out": "factor"}, {"Out": array(3, 3, seed=5)}, {"upper": upper})
