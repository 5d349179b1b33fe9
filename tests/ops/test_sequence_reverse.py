"""sequence_reverse: the rows of each sequence in reverse order. Its gradient is the operator itself."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests
from sequence_cases import lod_tensor, sequences, split


def reference(inputs, attrs):
    x = inputs["X"]
    return {"Y": pm.LoDTensor(np.concatenate([x.array[:0], *(part[::-1] for part in split(x))]), x.lod)}


test_sequence_reverse = op_tests(
    "sequence_reverse",
    reference,
    cases={
        "rows": ({"X": sequences(3, 1, 4)}, {}),
        "an empty sequence": ({"X": sequences(2, 0, 3)}, {}),
        "images": ({"X": lod_tensor(array(3, 2, 2), [2, 1])}, {}),
        "one element": ({"X": lod_tensor(array(1), [1])}, {}),
        "no rows": ({"X": sequences(0, 0)}, {}),
        "nothing in a row": ({"X": sequences(2, 1, width=0)}, {}),
    },
    gradients=["X"],
    values_only={dtype: ({"X": lod_tensor(ints(3, 2, dtype=dtype), [2, 1])}, {}) for dtype in ("int32", "int64", "uint8")},
    gradient_of=["Y"],
    refusals={
        "no lod": ({"X": array(2, 3)}, {}, pm.ShapeError, "X no sequences (lod)"),
        "groups": ({"X": lod_tensor(array(3, 2), [1, 1], [2, 1])}, {}, pm.ShapeError, "X 2 levels"),
    },
)
