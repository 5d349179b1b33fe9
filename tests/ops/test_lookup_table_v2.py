"""lookup_table_v2: Out[i...] = W[Ids[i...]]."""

import numpy as np

import paddle_mini as pm
from families.lookups import gradient_tests, lookup_cases, lookup_refusals
from harness import array, ints, op_tests


def reference(inputs, attrs):
    ids = inputs["Ids"]
    out = inputs["W"][ids] if ids.size else np.zeros((*ids.shape, *inputs["W"].shape[1:]))
    return {"Out": np.where((ids == attrs["padding_idx"])[(...,) + (None,) * (inputs["W"].ndim - 1)], 0.0, out)}


test_lookup_table_v2 = op_tests(
    "lookup_table_v2",
    reference,
    cases={
        **lookup_cases(np.array),
        "matrix of ids": ({"W": array(7, 5), "Ids": ints(3, 4, high=7)}, {}),
        "int32": ({"W": array(7, 20), "Ids": ints(9, high=7, dtype="int32")}, {}),
        "last dimension of one": ({"W": array(7, 2), "Ids": ints(4, 1, high=7)}, {}),
        "one id": ({"W": array(7, 2), "Ids": np.array(3)}, {}),
        "no ids": ({"W": array(7, 2), "Ids": ints(0, 3)}, {}),
        "rows of two axes": ({"W": array(4, 3, 2), "Ids": np.array([2, 0])}, {}),
    },
    gradients=["W"],
    refusals={
        **lookup_refusals(np.array),
        "id too large": ({"W": array(9, 3), "Ids": np.array([[1, 2], [9, 3]])}, {}, pm.OpError, "9 position 2 9 rows"),
        "float ids": ({"W": array(9, 3), "Ids": array(3)}, {}, pm.ShapeError, "Ids float64"),
        "table of one axis": ({"W": array(9), "Ids": ints(3)}, {}, pm.ShapeError, "W [9] 2 dimensions"),
    },
)

(
    test_sparse_gradient_is_one_row_an_id_unmerged,
    test_only_the_dense_gradient_leaves_the_padding_row_out,
    test_gradient_refuses_an_id_out_of_range,
) = gradient_tests("lookup_table_v2", np.array)
