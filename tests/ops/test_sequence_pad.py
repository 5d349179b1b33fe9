"""sequence_pad: sequences side by side, padded to one length."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import lod_tensor, sequences, split


def reference(inputs, attrs):
    parts = split(inputs["X"])
    lengths = np.array([len(part) for part in parts], "int64")
    longest = attrs["padded_length"] if attrs["padded_length"] >= 0 else max(lengths, default=0)
    out = np.empty((len(parts), longest, *inputs["X"].array.shape[1:]), inputs["X"].array.dtype)
    pad = inputs["PadValue"]
    out[...] = pad.reshape(()) if pad.size == 1 else pad
    for i, part in enumerate(parts):
        out[i, : len(part)] = part
    return {"Out": out, "Length": lengths}


test_sequence_pad = op_tests(
    "sequence_pad",
    reference,
    cases={
        "to the longest": ({"X": sequences(2, 4, 0), "PadValue": array(1)}, {}),
        "longer": ({"X": sequences(2, 1), "PadValue": array(1)}, {"padded_length": 5}),
        "a row": ({"X": sequences(2, 4), "PadValue": array(3)}, {}),
        "images": ({"X": lod_tensor(array(3, 2, 2), [2, 1]), "PadValue": array(2, 2)}, {}),
        "a number": ({"X": sequences(2, 1), "PadValue": array()}, {}),
        "integers": ({"X": lod_tensor(ints(3, 2), [2, 1]), "PadValue": ints(1)}, {}),
        "one element": ({"X": sequences(1, width=1), "PadValue": array(1)}, {}),
        "no rows": ({"X": sequences(0, 0), "PadValue": array(1)}, {}),
        "only padding": ({"X": sequences(0, 0), "PadValue": array(1)}, {"padded_length": 2}),
        "no sequences": ({"X": sequences(), "PadValue": array(1)}, {}),
        "nothing in a row": ({"X": sequences(2, 1, width=0), "PadValue": array(0)}, {}),
    },
    refusals={
        "too short": ({"X": sequences(2, 4), "PadValue": array(1)}, {"padded_length": 3}, pm.ShapeError, "padded_length 3 4"),
        "negative": ({"X": sequences(2), "PadValue": array(1)}, {"padded_length": -2}, pm.ProgramError, "padded_length"),
        "other pad": ({"X": sequences(2), "PadValue": array(2)}, {}, pm.ShapeError, "PadValue [2]"),
        "other dtype": ({"X": sequences(2), "PadValue": ints(1)}, {}, pm.ShapeError, "PadValue int64"),
        "numbers": ({"X": lod_tensor(array(3), [3]), "PadValue": array(1)}, {}, pm.ShapeError, "X [3]"),
        "no lod": ({"X": array(2, 3), "PadValue": array(1)}, {}, pm.ShapeError, "X no sequences (lod)"),
        "groups": ({"X": lod_tensor(array(3, 2), [1, 1], [2, 1]), "PadValue": array(1)}, {}, pm.ShapeError, "X 2 levels"),
        "too large": (
            {"X": lod_tensor(array(2, 3), [0] * 60000 + [2]), "PadValue": array(1)},
            {"padded_length": 2**31 - 1},
            pm.Error,
            "",
        ),
    },
)

test_gradient = op_tests(
    "sequence_pad",
    reference,
    cases={
        "to the longest": ({"X": sequences(2, 4, 0), "PadValue": array(1)}, {}),
        "longer": ({"X": sequences(2, 1), "PadValue": array(3)}, {"padded_length": 5}),
        "no rows": ({"X": sequences(0, 0), "PadValue": array(1)}, {"padded_length": 2}),
    },
    gradients=["X"],
)


def test_gradient_of_another_shape_is_refused():
    with pytest.raises(pm.ShapeError, match="Out@GRAD"):
        run_op("sequence_pad_grad", {"X": sequences(2, 1), "Out@GRAD": array(2, 3, 3)})
