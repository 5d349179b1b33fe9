"""cvm: the first two columns of X are counts of shows and clicks; they are replaced by logarithms, or removed."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    shows, clicks = np.log1p(x[:, :1]), np.log1p(x[:, 1:2])
    return {"Y": np.concatenate([shows, clicks - shows, x[:, 2:]], 1) if attrs["use_cvm"] else x[:, 2:]}


def table(rows, width):
    return {"X": array(rows, 2 + width, low=0, high=9), "CVM": array(rows, 2, low=0, high=9, seed=1)}


X = table(4, 3)

# The gradient is not the mathematical one, so it is not compared with a numeric one: see below.
test_cvm = op_tests(
    "cvm",
    reference,
    cases={
        "logarithms": (X, {}),
        "without": (X, {"use_cvm": False}),
        "only counts": (table(3, 0), {}),
        "only counts, without": (table(3, 0), {"use_cvm": False}),
        "one row": (table(1, 1), {}),
        "no rows": (table(0, 3), {}),
    },
    refusals={
        "one column": ({**X, "X": array(4, 1)}, {}, pm.ShapeError, "X [4, 1] two columns"),
        "other rows": ({**X, "CVM": array(3, 2)}, {}, pm.ShapeError, "CVM [3, 2] 4 rows"),
        "three counts": ({**X, "CVM": array(4, 3)}, {}, pm.ShapeError, "CVM [4, 3]"),
        "one axis": ({**X, "X": array(4)}, {}, pm.ShapeError, "X 2 dimensions"),
        "other dtype": ({**X, "CVM": np.ones((4, 2), "int64")}, {}, pm.ShapeError, "CVM int64"),
    },
)


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("rows, width", [(4, 3), (2, 0), (0, 2)])
def test_the_gradient_holds_the_counts(keeps, rows, width):
    inputs = {**table(rows, width), "Y@GRAD": array(rows, width + 2 * keeps, seed=2)}
    found = run_op("cvm_grad", inputs, {"use_cvm": keeps})["X@GRAD"]
    np.testing.assert_array_equal(found, np.concatenate([inputs["CVM"], inputs["Y@GRAD"][:, 2 * keeps :]], 1))
