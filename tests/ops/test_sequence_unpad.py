"""sequence_unpad: the first Length[i] rows of X[i]."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import lod_tensor, sequences


def reference(inputs, attrs):
    x = inputs["X"] if inputs["X"].ndim > 2 else inputs["X"][..., None]
    rows = [part[:length] for part, length in zip(x, inputs["Length"])]
    return {"Out": lod_tensor(np.concatenate([x.reshape(-1, *x.shape[2:])[:0], *rows]), inputs["Length"].tolist())}


test_sequence_unpad = op_tests(
    "sequence_unpad",
    reference,
    cases={
        "rows": ({"X": array(3, 4, 2), "Length": np.array([2, 4, 0])}, {}),
        "int32 lengths": ({"X": array(2, 4, 2), "Length": np.array([1, 3], "int32")}, {}),
        # [sequences, length] becomes a column.
        "numbers": ({"X": array(3, 4), "Length": np.array([2, 4, 1])}, {}),
        "images": ({"X": array(2, 3, 2, 2), "Length": np.array([2, 1])}, {}),
        "one element": ({"X": array(1, 1), "Length": np.array([1])}, {}),
        "no rows": ({"X": array(2, 3, 2), "Length": np.array([0, 0])}, {}),
        "no sequences": ({"X": array(0, 3, 2), "Length": ints(0)}, {}),
    },
    gradients=["X"],
    refusals={
        "too long": ({"X": array(2, 3, 2), "Length": np.array([2, 4])}, {}, pm.OpError, "Length 4 3"),
        "negative": ({"X": array(2, 3, 2), "Length": np.array([2, -1])}, {}, pm.OpError, "Length -1"),
        "other count": ({"X": array(2, 3, 2), "Length": np.array([2])}, {}, pm.ShapeError, "Length [1]"),
        "rank of lengths": ({"X": array(2, 3, 2), "Length": np.array([[2], [1]])}, {}, pm.ShapeError, "Length 2"),
        "fractions": ({"X": array(2, 3, 2), "Length": array(2)}, {}, pm.ShapeError, "Length float"),
        "rank": ({"X": array(2), "Length": np.array([2, 1])}, {}, pm.ShapeError, "X [2]"),
    },
    open_shapes=True,
)

test_kinds = op_tests(
    "sequence_unpad",
    reference,
    open_shapes=True,
    cases={dtype: ({"X": ints(2, 3, dtype=dtype), "Length": np.array([2, 1])}, {}) for dtype in ("int32", "int64")},
)


@pytest.mark.parametrize(
    "gradient, words",
    [
        (sequences(2, 1, width=2), "[T, 3]"),
        (sequences(3), "1 sequences"),
        (sequences(5, 1), "5 rows"),
        (array(3, 3), "no sequences"),
    ],
)
def test_gradient_that_does_not_fit_is_refused(gradient, words):
    with pytest.raises(pm.ShapeError) as caught:
        run_op("sequence_unpad_grad", {"X": array(2, 4, 3), "Out@GRAD": gradient})
    assert words.replace("[T, 3]", "[-1, 3]") in str(caught.value)
