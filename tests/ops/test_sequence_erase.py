"""sequence_erase: sequences without some ids."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests
from sequence_cases import lod_tensor, split


def reference(inputs, attrs):
    x = inputs["X"]
    parts = [part[~np.isin(part.ravel(), attrs["tokens"])] for part in split(x)]
    rows = np.concatenate([x.array[:0], *parts])
    return {"Out": pm.LoDTensor(rows, [*x.lod[:-1], *lod_tensor(rows, [len(part) for part in parts]).lod])}


test_sequence_erase = op_tests(
    "sequence_erase",
    reference,
    cases={
        # The example of PaddlePaddle's documentation.
        "column": (
            {"X": lod_tensor(np.array([[2], [2], [6], [1], [3], [9], [6], [1], [0], [1]]), [3, 3, 4])},
            {"tokens": [2, 3, 5]},
        ),
        "int32": ({"X": lod_tensor(ints(9, dtype="int32", high=4), [4, 5])}, {"tokens": [3, 1]}),
        "all of one": ({"X": lod_tensor(np.array([1, 1, 2]), [2, 1])}, {"tokens": [1]}),
        "groups": ({"X": lod_tensor(ints(6, 1, high=3), [2, 1], [2, 1, 3])}, {"tokens": [1]}),
        "no tokens": ({"X": lod_tensor(ints(3, 1), [2, 1])}, {"tokens": []}),
        "beyond int32": ({"X": lod_tensor(np.array([2**32 + 1, 1, -1]), [3])}, {"tokens": [1]}),
        "one element": ({"X": lod_tensor(ints(1, 1), [1])}, {"tokens": [-1]}),
        "no rows": ({"X": lod_tensor(ints(0, 1), [0, 0])}, {"tokens": [1]}),
        "nothing left": ({"X": lod_tensor(np.array([[1], [1]]), [1, 1])}, {"tokens": [1, 1]}),
    },
    refusals={
        "wide": ({"X": lod_tensor(ints(2, 3), [2])}, {"tokens": [1]}, pm.ShapeError, "X [2, 3]"),
        "fractions": ({"X": lod_tensor(array(2, 1), [2])}, {"tokens": [1]}, pm.ShapeError, "X float"),
        "no lod": ({"X": ints(2, 1)}, {"tokens": [1]}, pm.ShapeError, "X no sequences (lod)"),
    },
)
