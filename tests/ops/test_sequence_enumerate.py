"""sequence_enumerate: at each position the ids that follow in the sequence."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests
from sequence_cases import lod_tensor, split


def reference(inputs, attrs):
    x, window = inputs["X"], attrs["win_size"]
    rows = [
        np.append(part.ravel(), np.full(window, attrs["pad_value"]))[t : t + window]
        for part in split(x)
        for t in range(len(part))
    ]
    return {"Out": pm.LoDTensor(np.array(rows, x.array.dtype).reshape(len(x.array), window), x.lod)}


test_sequence_enumerate = op_tests(
    "sequence_enumerate",
    reference,
    cases={
        "column": ({"X": lod_tensor(ints(6, 1), [4, 2])}, {"win_size": 3, "pad_value": 7}),
        "numbers": ({"X": lod_tensor(ints(6), [1, 2, 3])}, {"win_size": 2}),
        "int32": ({"X": lod_tensor(ints(6, 1, dtype="int32"), [4, 2])}, {"win_size": 2, "pad_value": -1}),
        "an empty sequence": ({"X": lod_tensor(ints(5, 1), [2, 0, 3])}, {"win_size": 9}),
        "one element": ({"X": lod_tensor(ints(1, 1), [1])}, {"win_size": 1}),
        "no rows": ({"X": lod_tensor(ints(0, 1), [0, 0])}, {"win_size": 2}),
    },
    refusals={
        "no window": ({"X": lod_tensor(ints(2, 1), [2])}, {"win_size": 0}, pm.ProgramError, "win_size 0"),
        "wide": ({"X": lod_tensor(ints(2, 3), [2])}, {"win_size": 2}, pm.ShapeError, "X [2, 3]"),
        "fractions": ({"X": lod_tensor(array(2, 1), [2])}, {"win_size": 2}, pm.Error, "float"),
        "no lod": ({"X": ints(2, 1)}, {"win_size": 2}, pm.ShapeError, "X no sequences (lod)"),
        "groups": ({"X": lod_tensor(ints(3, 1), [1, 1], [2, 1])}, {"win_size": 2}, pm.ShapeError, "X 2 levels"),
    },
)
