"""multiplex: copies each row from the tensor given by Ids."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    ids = inputs["Ids"].reshape(-1)
    rows = [inputs["X"][k][i] for i, k in enumerate(ids)]
    return {"Out": np.array(rows, inputs["X"][0].dtype).reshape(inputs["X"][0].shape)}


def xs(count, *shape):
    return [array(*shape, seed=i) for i in range(count)]


test_multiplex = op_tests(
    "multiplex",
    reference,
    cases={
        "rows": ({"Ids": np.array([[2], [0], [2], [1]], "int32"), "X": xs(3, 4, 5)}, {}),
        "a list of ids": ({"Ids": np.array([1, 0]), "X": xs(3, 2, 2, 3)}, {}),
        "one element": ({"Ids": np.array([[0]], "int32"), "X": xs(1, 1, 1)}, {}),
        "no rows": ({"Ids": np.zeros((0, 1), "int32"), "X": xs(2, 0, 4)}, {}),
        "no columns": ({"Ids": np.array([[1]], "int32"), "X": xs(2, 1, 0)}, {}),
    },
    gradients=["X"],
    values_only={"integers": ({"Ids": np.array([[1], [0]]), "X": [ints(2, 3), ints(2, 3, seed=1)]}, {})},
    refusals={
        "too high": ({"Ids": np.array([[0], [2]]), "X": xs(2, 2, 3)}, {}, pm.OpError, "2 row 1"),
        "negative": ({"Ids": np.array([[-1]]), "X": xs(2, 1, 3)}, {}, pm.OpError, "-1 row 0"),
        "too few ids": ({"Ids": np.array([[1]]), "X": xs(2, 2, 3)}, {}, pm.ShapeError, "Ids [1, 1] 2"),
        "other shape": ({"Ids": np.array([[1]]), "X": [array(1, 3), array(1, 4)]}, {}, pm.ShapeError, "X[1] [1, 4]"),
        "float ids": ({"Ids": array(1, 1), "X": xs(2, 1, 3)}, {}, pm.ShapeError, "Ids float64"),
    },
)
