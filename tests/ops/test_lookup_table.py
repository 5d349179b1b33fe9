"""lookup_table: Out[i..., :] = W[Ids[i..., 0]]."""

import numpy as np

import paddle_mini as pm
from families.lookups import gradient_tests, lookup_cases, lookup_refusals
from harness import array, ints, op_tests

COLUMN = lambda ids: np.array(ids)[:, None]


def reference(inputs, attrs):
    ids = inputs["Ids"][..., 0]
    out = inputs["W"][ids] if ids.size else np.zeros((*ids.shape, inputs["W"].shape[1]))
    return {"Out": np.where((ids == attrs["padding_idx"])[..., None], 0.0, out)}


test_lookup_table = op_tests(
    "lookup_table",
    reference,
    cases={
        **lookup_cases(COLUMN),
        "column": ({"W": array(7, 5), "Ids": ints(4, 1, high=7)}, {}),
        "three axes": ({"W": array(7, 20), "Ids": ints(3, 4, 1, high=7)}, {}),
        "int32": ({"W": array(7, 20), "Ids": ints(9, 1, high=7, dtype="int32")}, {}),
        "one id": ({"W": array(1, 1), "Ids": np.array([0])}, {}),
        "no ids": ({"W": array(7, 2), "Ids": ints(0, 1)}, {}),
        "sparse, no ids": ({"W": array(4, 3), "Ids": ints(0, 1)}, {"is_sparse": True}),
    },
    gradients=["W"],
    refusals={
        **lookup_refusals(COLUMN),
        "id too large": ({"W": array(9, 3), "Ids": np.array([[1], [2], [9]])}, {}, pm.OpError, "9 position 2 9 rows"),
        "ids without last dimension of 1": ({"W": array(9, 3), "Ids": ints(3, 2)}, {}, pm.ShapeError, "Ids [3, 2] 1"),
        "ids without dimensions": ({"W": array(9, 3), "Ids": np.array(1)}, {}, pm.ShapeError, "Ids []"),
        "float ids": ({"W": array(9, 3), "Ids": array(3, 1)}, {}, pm.ShapeError, "Ids float64"),
        "table of three axes": ({"W": array(9, 3, 2), "Ids": ints(3, 1)}, {}, pm.ShapeError, "W 3 dimensions 2"),
    },
)

(
    test_sparse_gradient_is_one_row_an_id_unmerged,
    test_only_the_dense_gradient_leaves_the_padding_row_out,
    test_gradient_refuses_an_id_out_of_range,
) = gradient_tests("lookup_table", COLUMN)
