"""sequence_scatter: the updates of sequence i are added to row i."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import lod_tensor, sequences


def reference(inputs, attrs):
    out, ids = inputs["X"].copy(), inputs["Ids"]
    updates = inputs["Updates"].array if isinstance(inputs["Updates"], pm.LoDTensor) else inputs["Updates"]
    row = np.repeat(np.arange(len(out)), np.diff(ids.lod[0]))
    np.add.at(out, (row, ids.array.ravel()), updates.ravel())
    return {"Out": out}


def ids(*lengths, high, dtype="int64"):
    return lod_tensor(ints(sum(lengths), 1, high=high, dtype=dtype), lengths)


test_sequence_scatter = op_tests(
    "sequence_scatter",
    reference,
    cases={
        "column": ({"X": array(3, 6), "Ids": ids(3, 5, 4, high=6), "Updates": sequences(3, 5, 4, width=1)}, {}),
        "int32 ids": ({"X": array(2, 3), "Ids": ids(2, 1, high=3, dtype="int32"), "Updates": array(3, 1)}, {}),
        "the same id again": ({"X": array(1, 3), "Ids": ids(8, high=2), "Updates": array(8, 1)}, {}),
        "an empty sequence": ({"X": array(3, 4), "Ids": ids(2, 0, 1, high=4), "Updates": array(3, 1)}, {}),
        # As many updates as rows: even so, Out has no sequences.
        "as many as rows": ({"X": array(2, 4), "Ids": ids(1, 1, high=4), "Updates": array(2, 1)}, {}),
        "one element": ({"X": array(1, 1), "Ids": ids(1, high=1), "Updates": array(1, 1)}, {}),
        "no rows": ({"X": array(0, 3), "Ids": ids(high=3), "Updates": array(0, 1)}, {}),
        "no updates": ({"X": array(2, 3), "Ids": ids(0, 0, high=3), "Updates": array(0, 1)}, {}),
    },
    gradients=["X", "Updates"],
    values_only={"int64": ({"X": ints(2, 3), "Ids": ids(2, 1, high=3), "Updates": ints(3, 1)}, {})},
    refusals={
        "beyond": (
            {"X": array(2, 3), "Ids": lod_tensor(np.array([[0], [3]]), [1, 1]), "Updates": array(2, 1)},
            {},
            pm.OpError,
            "Ids 3 position 1 3 columns",
        ),
        "negative": (
            {"X": array(2, 3), "Ids": lod_tensor(np.array([[-1], [2]]), [1, 1]), "Updates": array(2, 1)},
            {},
            pm.OpError,
            "Ids -1",
        ),
        "other rows": ({"X": array(3, 3), "Ids": ids(1, 1, high=3), "Updates": array(2, 1)}, {}, pm.ShapeError, "X 3 rows Ids 2"),
        "other updates": (
            {"X": array(2, 3), "Ids": ids(1, 1, high=3), "Updates": array(3, 1)},
            {},
            pm.ShapeError,
            "Updates [3, 1]",
        ),
        "other dtype": ({"X": array(2, 3), "Ids": ids(1, 1, high=3), "Updates": ints(2, 1)}, {}, pm.ShapeError, "Updates int64"),
        "wide": (
            {"X": array(1, 3), "Ids": lod_tensor(ints(2, 2, high=3), [2]), "Updates": array(2, 2)},
            {},
            pm.ShapeError,
            "Ids [2, 2]",
        ),
        "rank": ({"X": array(1), "Ids": ids(1, high=1), "Updates": array(1, 1)}, {}, pm.ShapeError, "X 1 dimensions"),
        "no lod": (
            {"X": array(2, 3), "Ids": ints(2, 1, high=3), "Updates": array(2, 1)},
            {},
            pm.ShapeError,
            "Ids no sequences (lod)",
        ),
    },
)


def test_gradient_refuses_ids_out_of_range():
    inputs = {"Ids": lod_tensor(np.array([[3]]), [1]), "Updates": array(1, 1), "Out@GRAD": array(1, 3)}
    with pytest.raises(pm.OpError, match="Ids has 3"):
        run_op("sequence_scatter_grad", inputs, {}, ["Updates@GRAD"])
