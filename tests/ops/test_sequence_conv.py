"""sequence_conv: each row with those around it in its sequence, times Filter."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op
from sequence_cases import lod_tensor, sequences, split


def reference(inputs, attrs):
    x, start, length = inputs["X"], attrs["contextStart"], attrs["contextLength"]
    columns = np.zeros((len(x.array), length, x.array.shape[1]))
    for begin, rows in zip(x.lod[-1], split(x)):
        for t in range(len(rows)):
            for tap in range(length):
                if 0 <= t + start + tap < len(rows):
                    columns[begin + t, tap] = rows[t + start + tap]
    return {"Out": pm.LoDTensor(columns.reshape(len(x.array), inputs["Filter"].shape[0]) @ inputs["Filter"], x.lod)}


test_sequence_conv = op_tests(
    "sequence_conv",
    reference,
    cases={
        # PaddlePaddle's layer begins at -floor(length / 2).
        "three rows": ({"X": sequences(4, 2, 5), "Filter": array(9, 2)}, {"contextLength": 3, "contextStart": -1}),
        "to the right": ({"X": sequences(4, 2), "Filter": array(6, 2)}, {"contextLength": 2}),
        "beyond the right": ({"X": sequences(4, 2), "Filter": array(6, 2)}, {"contextLength": 2, "contextStart": 3}),
        "beyond the left": ({"X": sequences(4, 2), "Filter": array(6, 2)}, {"contextLength": 2, "contextStart": -9}),
        "far away": ({"X": sequences(2), "Filter": array(3, 2)}, {"contextLength": 1, "contextStart": 2**31 - 1}),
        "far back": ({"X": sequences(2), "Filter": array(3, 2)}, {"contextLength": 1, "contextStart": -(2**31)}),
        "longer than the sequences": ({"X": sequences(1, 2), "Filter": array(15, 2)}, {"contextLength": 5, "contextStart": -2}),
        "an empty sequence": ({"X": sequences(2, 0, 3), "Filter": array(9, 4)}, {"contextLength": 3, "contextStart": -1}),
        "one element": ({"X": sequences(1, width=1), "Filter": array(1, 1)}, {"contextLength": 1}),
        "no rows": ({"X": sequences(0, 0), "Filter": array(9, 4)}, {"contextLength": 3, "contextStart": -1}),
        "nothing in a row": ({"X": sequences(2, 1, width=0), "Filter": array(0, 4)}, {"contextLength": 3}),
        "no filters": ({"X": sequences(2, 1), "Filter": array(9, 0)}, {"contextLength": 3}),
    },
    gradients=["X", "Filter"],
    refusals={
        "other filter": ({"X": sequences(2), "Filter": array(8, 2)}, {"contextLength": 3}, pm.ShapeError, "Filter [8, 2] 3 * 3"),
        "no context": ({"X": sequences(2), "Filter": array(0, 2)}, {"contextLength": 0}, pm.ProgramError, "contextLength 0"),
        "stride": (
            {"X": sequences(2), "Filter": array(3, 2)},
            {"contextLength": 1, "contextStride": 2},
            pm.ProgramError,
            "contextStride 2",
        ),
        "padding": (
            {"X": sequences(2), "Filter": array(3, 2)},
            {"contextLength": 1, "paddingTrainable": True},
            pm.ProgramError,
            "paddingTrainable",
        ),
        "padding data": (
            {"X": sequences(2), "Filter": array(3, 2), "PaddingData": array(1, 3)},
            {"contextLength": 1},
            pm.ProgramError,
            "PaddingData",
        ),
        "no lod": ({"X": array(2, 3), "Filter": array(3, 2)}, {"contextLength": 1}, pm.ShapeError, "X no sequences"),
        "two levels": (
            {"X": lod_tensor(array(3, 3), [1, 1], [2, 1]), "Filter": array(3, 2)},
            {"contextLength": 1},
            pm.ShapeError,
            "X 2 levels",
        ),
        "rank": ({"X": lod_tensor(array(3), [3]), "Filter": array(3, 2)}, {"contextLength": 1}, pm.ShapeError, "X 2"),
        "other dtype": (
            {"X": lod_tensor(array(3, 1).astype("float32"), [3]), "Filter": np.ones((1, 1), "int64")},
            {"contextLength": 1},
            pm.ShapeError,
            "Filter int64",
        ),
    },
)


def test_gradient_of_another_shape_is_refused():
    inputs = {"X": sequences(2), "Filter": array(3, 2), "Out@GRAD": array(3, 2)}
    with pytest.raises(pm.ShapeError, match="Out@GRAD"):
        run_op("sequence_conv_grad", inputs, {"contextLength": 1}, ["X@GRAD"])
