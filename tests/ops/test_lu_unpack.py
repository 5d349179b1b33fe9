"""lu_unpack: the permutation, L and U of a decomposition by lu."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op
from sequence_cases import dropped, lod_tensor


def reference(inputs, attrs):
    x, pivots = inputs["X"], inputs["Pivots"]
    (m, n), batch = x.shape[-2:], x.shape[:-2]
    k, nothing = min(m, n), np.zeros(0, x.dtype)
    permutation = np.zeros((*batch, m, m))
    for at in np.ndindex(*batch):
        order = list(range(m))
        for i, pivot in enumerate(pivots[at]):
            order[i], order[pivot - 1] = order[pivot - 1], order[i]
        permutation[at][order, range(m)] = 1
    lower, upper = np.tril(x, -1)[..., :k] + np.eye(m, k), np.triu(x)[..., :k, :]
    return {
        "Pmat": permutation if attrs["unpack_pivots"] else nothing,
        "L": lower if attrs["unpack_ludata"] else nothing,
        "U": upper if attrs["unpack_ludata"] else nothing,
    }


def decomposed(*shape):
    k = min(shape[-2:])
    random = np.random.RandomState(3)
    pivots = np.stack([random.randint(i + 1, shape[-2] + 1, shape[:-2]) for i in range(k)], -1).astype("int32")
    return {"X": array(*shape), "Pivots": pivots}


WRONG = {"X": array(2, 3, 3), "Pivots": np.array([[1, 2, 3], [1, 2, 4]], "int32")}

test_lu_unpack = op_tests(
    "lu_unpack",
    dropped(reference),
    cases={
        "square": (decomposed(4, 4), {}),
        "tall": (decomposed(5, 3), {}),
        "wide": (decomposed(3, 5), {}),
        "batch": (decomposed(2, 3, 4, 3), {}),
        "without Pmat": (decomposed(3, 3), {"unpack_pivots": False}),
        "no matrices": ({"X": array(0, 3, 2), "Pivots": np.zeros((0, 2), "int32")}, {}),
    },
    values_only={
        "sequences": ({**decomposed(3, 3), "X": lod_tensor(array(3, 3), [1, 2])}, {}),
        "only Pmat": (decomposed(3, 3), {"unpack_ludata": False}),
    },
    gradients=["X"],
    refusals={
        "not a row": (WRONG, {}, pm.OpError, "matrix 1 Pivots row"),
        "too few pivots": ({"X": array(3, 3), "Pivots": np.ones(2, "int32")}, {}, pm.ShapeError, "Pivots [2] [3]"),
        "pivots of int64": ({"X": array(3, 3), "Pivots": np.ones(3, "int64")}, {}, pm.ShapeError, "Pivots int64 int32"),
        "a vector": ({"X": array(3), "Pivots": np.ones(3, "int32")}, {}, pm.ShapeError, "X [3] matrices"),
    },
)


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (2, 3, 5)])
def test_the_product_is_the_matrix(shape):
    x = array(*shape)
    lu = run_op("lu", {"X": x}, {}, ["Out", "Pivots", "Infos"])
    found = run_op("lu_unpack", {"X": lu["Out"], "Pivots": lu["Pivots"]}, {}, ["Pmat", "L", "U"])
    np.testing.assert_allclose(found["Pmat"] @ found["L"] @ found["U"], x, atol=1e-6)
