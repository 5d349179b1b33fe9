"""matrix_rank: the number of singular values above a tolerance."""

import numpy as np

import paddle_mini as pm
from families.matrices import refused
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    values = np.abs(np.linalg.eigvalsh(x)) if attrs["hermitian"] else np.linalg.svd(x, compute_uv=False)
    least = inputs.get("TolTensor", 0.0 if attrs["use_default_tol"] else attrs["tol"])
    if attrs["use_default_tol"]:
        least = np.maximum(least, 1e-5 * values.max(-1, initial=0))  # between that of float32 and the numbers of the cases
    return {"Out": (values > np.asarray(least)[..., None]).sum(-1).astype("int32")}


def ranks(*ranks, size=4):
    """Matrices of these ranks."""
    return np.stack([array(size, rank, seed=rank) @ array(rank, size, seed=9 + rank) for rank in ranks])


def symmetric(x):
    return x @ np.swapaxes(x, -1, -2)


DIAGONAL = np.diag([1.0, 1e-3, 0.0])

test_matrix_rank = op_tests(
    "matrix_rank",
    reference,
    cases={
        "full": ({"X": array(3, 3)}, {}),
        "not full": ({"X": ranks(2)[0]}, {}),
        "batch": ({"X": ranks(1, 2, 3, 4)}, {}),
        "tall": ({"X": ranks(2)[0][:, :3]}, {}),
        "wide": ({"X": ranks(2)[0][:3]}, {}),
        "zeros": ({"X": np.zeros((3, 3))}, {}),
        "hermitian": ({"X": symmetric(ranks(1, 3))}, {"hermitian": True}),
        "negative eigenvalues": ({"X": -np.eye(3)}, {"hermitian": True}),
        "tolerance": ({"X": DIAGONAL}, {"tol": 0.01, "use_default_tol": False}),
        "tolerance 0": ({"X": DIAGONAL}, {"use_default_tol": False}),
        "tolerances": ({"X": DIAGONAL, "TolTensor": np.array([0.01, 1e-4, 2.0])}, {"use_default_tol": False}),
        "tolerances for each": ({"X": np.stack([DIAGONAL, np.eye(3)]), "TolTensor": np.array([[0.01], [1e-4]])}, {}),
        "one element": ({"X": array(1, 1)}, {}),
        "no matrices": ({"X": array(0, 3, 2)}, {}),
    },
    refusals={
        "a vector": ({"X": array(3)}, {}, pm.ShapeError, "X [3] matrices"),
        "integers": ({"X": ints(2, 2)}, {}, pm.Error, "int64"),
        "not finite": ({"X": np.full((2, 2), np.nan)}, {}, pm.OpError, "matrix 0 X finite"),
        "tolerances that do not fit": ({"X": array(2, 3, 3), "TolTensor": array(3)}, {}, pm.ShapeError, "broadcast"),
        **{"hermitian, " + name: refusal for name, refusal in refused("X", {"hermitian": True}).items()},
    },
)
