"""sequence_expand: repeats each sequence of X by the number of elements of a sequence of Y."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import lod_tensor, sequences, split


def reference(inputs, attrs):
    x, level = inputs["X"], inputs["Y"].lod[attrs["ref_level"]]
    counts = np.diff(level)
    if not len(counts):
        return {"Out": x}
    parts = split(x) if isinstance(x, pm.LoDTensor) else list(x[:, None])
    repeated = [part for part, count in zip(parts, counts) for _ in range(count)]
    rows = np.concatenate([(x.array if isinstance(x, pm.LoDTensor) else x)[:0], *repeated])
    return {"Out": lod_tensor(rows, [len(part) for part in repeated]) if isinstance(x, pm.LoDTensor) else rows}


test_sequence_expand = op_tests(
    "sequence_expand",
    reference,
    cases={
        "rows": ({"X": array(3, 2), "Y": sequences(2, 0, 3)}, {}),
        "sequences": ({"X": sequences(2, 1), "Y": sequences(3, 2)}, {}),
        "first level": ({"X": sequences(2, 2, width=1), "Y": lod_tensor(array(9, 1), [2, 2], [3, 3, 1, 2])}, {"ref_level": 0}),
        "last level": ({"X": array(4, 2), "Y": lod_tensor(array(9, 1), [2, 2], [3, 3, 1, 2])}, {}),
        "an empty sequence": ({"X": sequences(2, 0, 1), "Y": sequences(3, 2, 0)}, {}),
        "one element": ({"X": array(1), "Y": sequences(1, width=1)}, {}),
        "no rows": ({"X": array(0, 2), "Y": sequences()}, {}),
        "nothing to repeat by": ({"X": sequences(2, 1), "Y": sequences()}, {}),
        "never": ({"X": array(2, 2), "Y": sequences(0, 0)}, {}),
        "nothing in a row": ({"X": array(2, 0), "Y": sequences(2, 1)}, {}),
    },
    gradients=["X"],
    values_only={dtype: ({"X": ints(2, 3, dtype=dtype), "Y": sequences(2, 1)}, {}) for dtype in ("int32", "int64", "uint8")},
    refusals={
        "other count": ({"X": array(3, 2), "Y": sequences(2, 1)}, {}, pm.ShapeError, "X 3 Y 2"),
        "other count of sequences": ({"X": sequences(3), "Y": sequences(2, 1)}, {}, pm.ShapeError, "X 1 Y 2"),
        "no such level": ({"X": array(2, 2), "Y": sequences(2, 1)}, {"ref_level": 1}, pm.ProgramError, "ref_level 1"),
        "negative level": ({"X": array(2, 2), "Y": sequences(2, 1)}, {"ref_level": -2}, pm.ProgramError, "ref_level"),
        "groups": ({"X": lod_tensor(array(3, 2), [1, 1], [2, 1]), "Y": sequences(2, 1)}, {}, pm.ShapeError, "X 2"),
        "no lod": ({"X": array(2, 2), "Y": array(2, 2)}, {}, pm.ShapeError, "Y no sequences (lod)"),
        "rank 0": ({"X": array(), "Y": sequences(2, 1)}, {}, pm.ShapeError, "X no dimensions"),
    },
)


def test_as_many_rows_as_y_has_groups_does_not_make_sequences():
    out = run_op("sequence_expand", {"X": array(2, 2), "Y": sequences(1, 1)})["Out"]
    assert isinstance(out, np.ndarray)


def test_gradient_of_another_shape_is_refused():
    with pytest.raises(pm.ShapeError, match="Out@GRAD"):
        run_op("sequence_expand_grad", {"X": array(2, 2), "Y": sequences(2, 1), "Out@GRAD": array(2, 2)})
