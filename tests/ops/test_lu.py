"""lu: L and U in one matrix, with the rows of X exchanged."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def factors(a):
    """Doolittle's method with the largest pivots of columns."""
    a, k, info = a.copy(), min(a.shape), 0
    pivots = np.zeros(k, "int32")
    for i in range(k):
        best = i + int(np.argmax(np.abs(a[i:, i])))
        pivots[i] = best + 1
        a[[i, best]] = a[[best, i]]
        if a[i, i] == 0:
            info = info or i + 1
            continue
        a[i + 1 :, i] /= a[i, i]
        a[i + 1 :, i + 1 :] -= np.outer(a[i + 1 :, i], a[i, i + 1 :])
    return a, pivots, info


def reference(inputs, attrs):
    x = inputs["X"]
    batch, k = x.shape[:-2], min(x.shape[-2:])
    out, pivots, infos = np.zeros_like(x), np.zeros((*batch, k), "int32"), np.zeros(batch or 1, "int32")
    for at in np.ndindex(*batch):
        out[at], pivots[at], infos[at or 0] = factors(x[at])
    return {"Out": out, "Pivots": pivots, "Infos": infos}


REFUSALS = {
    "a vector": ({"X": array(3)}, {}, pm.ShapeError, "X [3] matrices"),
    "integers": ({"X": ints(2, 2)}, {}, pm.Error, "int64"),
    "no exchanges": ({"X": array(2, 2)}, {"pivots": False}, pm.ProgramError, "'pivots' true"),
}

test_lu = op_tests(
    "lu",
    reference,
    cases={
        "square": ({"X": array(4, 4)}, {}),
        "tall": ({"X": array(5, 3)}, {}),
        "wide": ({"X": array(3, 5)}, {}),
        "batch": ({"X": array(2, 3, 4, 3)}, {}),
        "one element": ({"X": array(1, 1)}, {}),
        "no matrices": ({"X": array(0, 3, 2)}, {}),
    },
    values_only={
        "singular": ({"X": np.array([[1.0, 2], [2, 4]])}, {}),
        "a column of zeros": ({"X": np.array([[0.0, 2], [0, 4]])}, {}),
        "zeros": ({"X": np.zeros((2, 2, 3))}, {}),
    },
    gradients=["X"],
    refusals=REFUSALS,
    tolerance={"float32": 1e-5},
)


def test_the_gradient_of_a_singular_matrix_is_not_a_number():
    x = np.array([[1.0, 2], [2, 4]])
    found = run_op("lu", {"X": x}, {}, ["Out", "Pivots", "Infos"])
    inputs = {"X": x, "Out": found["Out"], "Pivots": found["Pivots"], "Out@GRAD": np.ones((2, 2))}
    assert np.isnan(run_op("lu_grad", inputs, {}, ["X@GRAD"])["X@GRAD"]).all()


@pytest.mark.parametrize("pivot", [0, 3])
def test_pivots_that_are_not_rows(pivot):
    inputs = {"X": array(2, 2), "Out": array(2, 2), "Pivots": np.array([1, pivot], "int32"), "Out@GRAD": array(2, 2)}
    with pytest.raises(pm.OpError, match="matrix 0 of Out has a pivot that is not the number of a row"):
        run_op("lu_grad", inputs, {}, ["X@GRAD"])
