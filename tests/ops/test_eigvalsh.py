"""eigvalsh: the eigenvalues of symmetric matrices."""

import numpy as np

import paddle_mini as pm
from families.matrices import check_symmetric_gradient, positive, refused
from harness import array, op_tests


def reference(inputs, attrs):
    return {"Eigenvalues": np.linalg.eigvalsh(inputs["X"], attrs["UPLO"])}


test_eigvalsh = op_tests(
    "eigvalsh",
    reference,
    cases={
        "matrix": ({"X": positive(3, 3)}, {}),
        "batch": ({"X": positive(2, 3, 4, 4)}, {}),
        "only the lower triangle is read": ({"X": array(3, 3)}, {}),
        "only the upper triangle is read": ({"X": array(3, 3)}, {"UPLO": "U"}),
        "no matrices": ({"X": array(0, 3, 3)}, {}),
    },
    unchecked=["Eigenvectors"],
    refusals={
        **refused("X"),
        "triangle": ({"X": array(2, 2)}, {"UPLO": "l"}, pm.ProgramError, "'UPLO'"),
        "not finite": ({"X": np.full((2, 2), np.inf)}, {}, pm.OpError, "matrix 0 X finite"),
    },
)


def test_gradient():
    check_symmetric_gradient("eigvalsh", {"Eigenvalues": "w", "Eigenvectors": "v"}, {"Eigenvalues": array(3, seed=5)}, {})
