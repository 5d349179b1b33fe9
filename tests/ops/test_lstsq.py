"""lstsq: the solution of least norm that minimizes the squares of X Solution - Y."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import dropped, lod_tensor


def reference(inputs, attrs):
    x, y, driver = inputs["X"], inputs["Y"], attrs["driver"]
    (m, n), values = x.shape[-2:], np.linalg.svd(x, compute_uv=False)
    share = 1e-6 if driver == "gels" or attrs["rcond"] < 0 else attrs["rcond"]
    solution = np.linalg.pinv(x, share) @ y
    nothing = np.zeros(0, x.dtype)
    rank = (values > share * values[..., :1]).sum(-1).astype("int32")
    return {
        "Solution": solution,
        "Residuals": ((x @ solution - y) ** 2).sum(-2) if m > n else nothing,
        "Rank": np.zeros(0, "int32") if driver == "gels" else rank,
        "SingularValues": values if driver in ("gelsd", "gelss") else nothing,
    }


SIDES = array(4, 2, seed=1)
DEPENDENT = np.outer([1.0, 2, 3, 4], [1.0, -1, 2])

test_lstsq = op_tests(
    "lstsq",
    dropped(reference),
    cases={
        "tall": ({"X": array(4, 3), "Y": SIDES}, {}),
        "wide": ({"X": array(3, 5), "Y": array(3, 2, seed=1)}, {}),
        "square": ({"X": array(3, 3) + 2 * np.eye(3), "Y": array(3, 1, seed=1)}, {}),
        "batch": ({"X": array(2, 3, 4, 3), "Y": array(2, 3, 4, 2, seed=1)}, {"driver": "gelsd"}),
        "gelsy": ({"X": array(4, 3), "Y": SIDES}, {"driver": "gelsy", "rcond": 1e-5}),
        "gelss": ({"X": array(4, 3), "Y": SIDES}, {"driver": "gelss", "rcond": -1.0}),
        "dependent columns": ({"X": DEPENDENT, "Y": SIDES}, {"driver": "gelsd", "rcond": 1e-5}),
        "small values count as 0": ({"X": np.diag([1.0, 0.5, 0.01]), "Y": array(3, 2)}, {"driver": "gelsd", "rcond": 0.1}),
        "no matrices": ({"X": array(0, 3, 2), "Y": array(0, 3, 1)}, {}),
    },
    values_only={"sequences": ({"X": lod_tensor(array(3, 3), [1, 2]), "Y": array(3, 2, seed=1)}, {})},
    refusals={
        "without full rank": ({"X": DEPENDENT, "Y": SIDES}, {}, pm.OpError, "matrix 0 X rank 1 gels 3 gelsd"),
        "not finite": ({"X": np.full((2, 2), np.nan), "Y": array(2, 1)}, {}, pm.OpError, "matrix 0 X finite"),
        "sides that are not finite": ({"X": array(2, 2), "Y": np.full((2, 1), np.inf)}, {}, pm.OpError, "matrix 0 Y finite"),
        "rows": ({"X": array(3, 2), "Y": array(2, 2)}, {}, pm.ShapeError, "Y [2, 2] X [3, 2]"),
        "a vector": ({"X": array(3, 2), "Y": array(3)}, {}, pm.ShapeError, "Y [3] [3, 2]"),
        "one dimension": ({"X": array(3), "Y": array(3)}, {}, pm.ShapeError, "X [3] matrices"),
        "other driver": ({"X": array(2, 2), "Y": array(2, 1)}, {"driver": "gelsx"}, pm.ProgramError, "'driver'"),
        "integers": ({"X": ints(2, 2), "Y": ints(2, 2)}, {}, pm.Error, "int64"),
    },
    tolerance={"float32": 2e-5},
)


@pytest.mark.parametrize("driver", ["gelsy", "gelsd", "gelss"])
def test_a_matrix_of_zeros(driver):
    found = run_op(
        "lstsq", {"X": np.zeros((2, 3)), "Y": np.ones((2, 1))}, {"driver": driver}, ["Solution", "Rank", "SingularValues"]
    )
    assert not found["Solution"].any() and found["Rank"] == 0
