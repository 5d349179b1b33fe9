"""scatter: X with rows replaced by updates."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    out, ids, updates = inputs["X"].copy(), inputs["Ids"], inputs["Updates"]
    ids, updates = ids.reshape(-1), updates.reshape(ids.size, *out.shape[1:])
    if attrs["overwrite"]:
        for row, update in zip(ids, updates):
            out[row] = update
    else:
        out[ids] = 0
        np.add.at(out, ids, updates)
    return {"Out": out}


test_scatter = op_tests(
    "scatter",
    reference,
    cases={
        "rows": ({"X": array(5, 4), "Ids": np.array([3, 0]), "Updates": array(2, 4)}, {}),
        "sum": ({"X": array(5, 4), "Ids": np.array([3, 0, 3], "int32"), "Updates": array(3, 4)}, {"overwrite": False}),
        "a column of ids": ({"X": array(5, 4), "Ids": np.array([[3], [0]]), "Updates": array(2, 4)}, {}),
        "one number": ({"X": array(5, 4), "Ids": np.array(2), "Updates": array(4)}, {}),
        "one number, sum": ({"X": array(5, 4), "Ids": np.array(2), "Updates": array(4)}, {"overwrite": False}),
        "one element": ({"X": array(1), "Ids": np.array([0]), "Updates": array(1)}, {}),
        "no ids": ({"X": array(3, 4), "Ids": np.zeros(0, "int64"), "Updates": array(0, 4)}, {"overwrite": False}),
        "no columns": ({"X": array(3, 0), "Ids": np.array([1]), "Updates": array(1, 0)}, {}),
    },
    gradients=["X", "Updates"],
    refusals={
        "too high": ({"X": array(3), "Ids": np.array([0, 3]), "Updates": array(2)}, {}, pm.OpError, "3 position 1"),
        "negative": ({"X": array(3), "Ids": np.array([-1]), "Updates": array(1)}, {}, pm.OpError, "-1"),
        "other updates": (
            {"X": array(3, 4), "Ids": np.array([1]), "Updates": array(1, 3)},
            {},
            pm.ShapeError,
            "Updates [1, 3] [1, 4]",
        ),
        "too few updates": (
            {"X": array(3, 4), "Ids": np.array([1, 2]), "Updates": array(1, 4)},
            {},
            pm.ShapeError,
            "Updates [1, 4] [2, 4]",
        ),
        "a number": ({"X": array(), "Ids": np.array([0]), "Updates": array(1)}, {}, pm.ShapeError, "X no dimensions"),
        "a matrix of ids": ({"X": array(3), "Ids": ints(2, 2), "Updates": array(2, 2)}, {}, pm.ShapeError, "[2, 2]"),
    },
)

test_last_update_stays = op_tests(
    "scatter",
    reference,
    cases={
        "overwrite": ({"X": ints(5, 2), "Ids": np.array([3, 3, 1]), "Updates": ints(3, 2, seed=1)}, {}),
        "sum": ({"X": ints(5, 2), "Ids": np.array([3, 3, 1]), "Updates": ints(3, 2, seed=1)}, {"overwrite": False}),
    },
)


def test_gradient_of_an_update_that_was_overwritten():
    flow = array(3, 2)
    found = run_op(
        "scatter_grad",
        {"Ids": np.array([1, 1]), "Updates": array(2, 2), "Out@GRAD": flow},
        {},
        outputs=["X@GRAD", "Updates@GRAD"],
    )
    np.testing.assert_array_equal(found["Updates@GRAD"], flow[[1, 1]])
    np.testing.assert_array_equal(found["X@GRAD"], flow * [[1], [0], [1]])
