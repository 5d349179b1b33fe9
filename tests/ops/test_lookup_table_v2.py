"""lookup_table_v2: Out[i...] = W[Ids[i...]]."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    ids = inputs["Ids"]
    out = inputs["W"][ids] if ids.size else np.zeros((*ids.shape, *inputs["W"].shape[1:]))
    return {"Out": np.where((ids == attrs["padding_idx"])[(...,) + (None,) * (inputs["W"].ndim - 1)], 0.0, out)}


test_lookup_table_v2 = op_tests(
    "lookup_table_v2",
    reference,
    cases={
        "matrix of ids": ({"W": array(7, 5), "Ids": ints(3, 4, high=7)}, {}),
        "int32": ({"W": array(7, 20), "Ids": ints(9, high=7, dtype="int32")}, {}),
        "last dimension of one": ({"W": array(7, 2), "Ids": ints(4, 1, high=7)}, {}),
        "one id": ({"W": array(7, 2), "Ids": np.array(3)}, {}),
        "no ids": ({"W": array(7, 2), "Ids": ints(0, 3)}, {}),
        "padding": ({"W": array(4, 3), "Ids": np.array([2, 0, 2, 1])}, {"padding_idx": 2}),
        "sparse": ({"W": array(4, 3), "Ids": np.array([2, 0, 2, 1])}, {"is_sparse": True}),
        "rows of two axes": ({"W": array(4, 3, 2), "Ids": np.array([2, 0])}, {}),
        "rows of nothing": ({"W": array(4, 0), "Ids": np.array([2, 0])}, {}),
    },
    gradients=["W"],
    refusals={
        "id too large": ({"W": array(9, 3), "Ids": np.array([[1, 2], [9, 3]])}, {}, pm.OpError, "9 position 2 9 rows"),
        "negative id": ({"W": array(9, 3), "Ids": np.array([0, -1])}, {}, pm.OpError, "-1 position 1"),
        "no table": ({"W": array(0, 3), "Ids": np.array([0])}, {}, pm.OpError, "0 rows"),
        "float ids": ({"W": array(9, 3), "Ids": array(3)}, {}, pm.ShapeError, "Ids float64"),
        "table of one axis": ({"W": array(9), "Ids": ints(3)}, {}, pm.ShapeError, "W [9] 2 dimensions"),
    },
)


def gradient(ids, padding, sparse):
    inputs = {"W": array(5, 2), "Ids": np.array(ids), "Out@GRAD": array(len(ids), 2, seed=1)}
    return run_op("lookup_table_v2_grad", inputs, {"padding_idx": padding, "is_sparse": sparse})["W@GRAD"], inputs["Out@GRAD"]


def test_sparse_gradient_is_one_row_an_id_unmerged():
    found, out_gradient = gradient([3, 0, 3], -1, True)
    assert isinstance(found, Rows) and found.height == 5
    np.testing.assert_array_equal(found.rows, [3, 0, 3])
    np.testing.assert_array_equal(found.values, out_gradient)


def test_only_the_dense_gradient_leaves_the_padding_row_out():
    dense, out_gradient = gradient([3, 0, 3], 3, False)
    np.testing.assert_array_equal(dense, [out_gradient[1], [0, 0], [0, 0], [0, 0], [0, 0]])
    sparse, out_gradient = gradient([3, 0, 3], 3, True)
    np.testing.assert_array_equal(sparse.dense()[3], out_gradient[0] + out_gradient[2])


@pytest.mark.parametrize("sparse", [False, True])
def test_gradient_refuses_an_id_out_of_range(sparse):
    with pytest.raises(pm.OpError, match="id 5 at position 1"):
        gradient([0, 5], -1, sparse)
