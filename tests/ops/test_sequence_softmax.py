"""sequence_softmax: softmax over each sequence."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op
from sequence_cases import lod_tensor, sequences, split


def reference(inputs, attrs):
    x = inputs["X"]
    out = np.zeros_like(x.array)
    for begin, rows in zip(x.lod[-1], split(x)):
        if len(rows):
            e = np.exp(rows - rows.max())
            out[begin : begin + len(rows)] = e / e.sum()
    return {"Out": pm.LoDTensor(out, x.lod)}


test_sequence_softmax = op_tests(
    "sequence_softmax",
    reference,
    cases={
        "column": ({"X": sequences(2, 3, width=1)}, {}),
        "numbers": ({"X": lod_tensor(array(5), [4, 1])}, {}),
        "long": ({"X": lod_tensor(array(600, low=-9, high=9), [33, 500, 67])}, {}),
        "an empty sequence": ({"X": sequences(2, 0, 3, width=1)}, {}),
        "groups": ({"X": lod_tensor(array(6, 1), [2, 1], [1, 2, 3])}, {}),
        "one element": ({"X": sequences(1, width=1)}, {}),
        "no rows": ({"X": sequences(0, width=1)}, {}),
    },
    gradients=["X"],
    refusals={
        "wide": ({"X": sequences(2, 3)}, {}, pm.ShapeError, "X [5, 3]"),
        "no lod": ({"X": array(2, 1)}, {}, pm.ShapeError, "X no sequences"),
    },
)


@pytest.mark.parametrize("port", ["Out", "Out@GRAD"])
def test_gradient_of_another_shape_is_refused(port):
    x = sequences(2, width=1)
    with pytest.raises(pm.ShapeError, match=port):
        run_op("sequence_softmax_grad", {"X": x, "Out": x, "Out@GRAD": x, port: array(3, 1)})
