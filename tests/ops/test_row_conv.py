"""row_conv: each row and the following ones of its sequence, weighted element by element."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op
from sequence_cases import lod_tensor, sequences, split


def convolved(rows, weights):
    out = np.zeros_like(rows)
    for w, weight in enumerate(weights[: len(rows)]):
        out[: len(rows) - w] += rows[w:] * weight
    return out


def reference(inputs, attrs):
    x, weights = inputs["X"], inputs["Filter"]
    if not isinstance(x, pm.LoDTensor):
        return {"Out": np.array([convolved(image, weights) for image in x]).reshape(x.shape)}
    parts = [convolved(part, weights) for part in split(x)]
    return {"Out": pm.LoDTensor(np.concatenate([x.array[:0], *parts]), x.lod)}


test_row_conv = op_tests(
    "row_conv",
    reference,
    cases={
        "sequences": ({"X": sequences(4, 1, 3), "Filter": array(2, 3)}, {}),
        "longer than the sequences": ({"X": sequences(2, 1), "Filter": array(5, 3)}, {}),
        "wide": ({"X": sequences(4, 2, width=37), "Filter": array(3, 37)}, {}),
        "images": ({"X": array(2, 4, 3), "Filter": array(3, 3)}, {}),
        "an empty sequence": ({"X": sequences(2, 0, 3), "Filter": array(2, 3)}, {}),
        "one element": ({"X": sequences(1, width=1), "Filter": array(1, 1)}, {}),
        "no rows": ({"X": sequences(0, 0), "Filter": array(2, 3)}, {}),
        "no images": ({"X": array(0, 4, 3), "Filter": array(2, 3)}, {}),
        "no taps": ({"X": sequences(2), "Filter": array(0, 3)}, {}),
        "nothing in a row": ({"X": sequences(2, width=0), "Filter": array(2, 0)}, {}),
    },
    gradients=["X", "Filter"],
    refusals={
        "other width": ({"X": sequences(2), "Filter": array(2, 4)}, {}, pm.ShapeError, "Filter [2, 4] X [2, 3]"),
        "filter's rank": ({"X": sequences(2), "Filter": array(3)}, {}, pm.ShapeError, "Filter [3]"),
        "no lod": ({"X": array(2, 3), "Filter": array(2, 3)}, {}, pm.ShapeError, "X no sequences (lod)"),
        "rank": ({"X": array(2), "Filter": array(2, 3)}, {}, pm.ShapeError, "X [2]"),
        "images in sequences": (
            {"X": lod_tensor(array(3, 2, 3), [2, 1]), "Filter": array(2, 3)},
            {},
            pm.ShapeError,
            "X 3 dimensions sequences",
        ),
        "groups": ({"X": lod_tensor(array(3, 3), [1, 1], [2, 1]), "Filter": array(2, 3)}, {}, pm.ShapeError, "X 2 levels"),
    },
)


def test_gradient_of_another_shape_is_refused():
    with pytest.raises(pm.ShapeError, match="Out@GRAD"):
        run_op("row_conv_grad", {"X": sequences(2), "Filter": array(2, 3), "Out@GRAD": array(3, 3)}, {}, ["X@GRAD"])
