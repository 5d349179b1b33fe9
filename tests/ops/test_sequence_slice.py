"""sequence_slice: Length[i] rows of each sequence from its row Offset[i] on."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import lod_tensor, sequences, split


def column(*values, dtype="int64"):
    return np.array(values, dtype).reshape(-1, 1)


def reference(inputs, attrs):
    x, offset, length = inputs["X"], inputs["Offset"].ravel(), inputs["Length"].ravel()
    parts = [part[a : a + n] for part, a, n in zip(split(x), offset, length)]
    return {"Out": lod_tensor(np.concatenate([x.array[:0], *parts]), length.tolist())}


test_sequence_slice = op_tests(
    "sequence_slice",
    reference,
    cases={
        "parts": ({"X": sequences(3, 2, 4), "Offset": column(1, 0, 2), "Length": column(2, 1, 2)}, {}),
        "int32": ({"X": sequences(3, 2), "Offset": column(1, 0, dtype="int32"), "Length": column(2, 1, dtype="int32")}, {}),
        "nothing of one": ({"X": sequences(3, 2), "Offset": column(3, 0), "Length": column(0, 2)}, {}),
        "images": ({"X": lod_tensor(array(3, 2, 2), [2, 1]), "Offset": column(1, 0), "Length": column(1, 1)}, {}),
        "one element": ({"X": sequences(1, width=1), "Offset": column(0), "Length": column(1)}, {}),
        "no rows": ({"X": sequences(0, 0), "Offset": column(0, 0), "Length": column(0, 0)}, {}),
        "no sequences": ({"X": sequences(), "Offset": column(), "Length": column()}, {}),
    },
    gradients=["X"],
    refusals={
        "too long": (
            {"X": sequences(3, 2), "Offset": column(1, 1), "Length": column(2, 2)},
            {},
            pm.OpError,
            "sequence 1 2 rows Offset 1 Length 2",
        ),
        "negative offset": ({"X": sequences(3), "Offset": column(-1), "Length": column(1)}, {}, pm.OpError, "Offset -1"),
        "negative length": ({"X": sequences(3), "Offset": column(1), "Length": column(-1)}, {}, pm.OpError, "Length -1"),
        "huge": ({"X": sequences(3), "Offset": column(2**63 - 1), "Length": column(2**63 - 1)}, {}, pm.OpError, "sequence 0"),
        "other count": (
            {"X": sequences(3, 2), "Offset": column(1), "Length": column(1, 1)},
            {},
            pm.ShapeError,
            "Offset [1, 1] [2, 1]",
        ),
        "rank": ({"X": sequences(3), "Offset": np.array([1]), "Length": column(1)}, {}, pm.ShapeError, "Offset [1]"),
        "fractions": ({"X": sequences(3), "Offset": column(1), "Length": array(1, 1)}, {}, pm.ShapeError, "Length float"),
        "no lod": ({"X": array(3, 2), "Offset": column(1), "Length": column(1)}, {}, pm.ShapeError, "X no sequences"),
        "groups": (
            {"X": lod_tensor(array(3, 2), [1, 1], [2, 1]), "Offset": column(0, 0), "Length": column(1, 1)},
            {},
            pm.ShapeError,
            "X 2 levels",
        ),
    },
)

test_kinds = op_tests(
    "sequence_slice",
    reference,
    cases={
        dtype: ({"X": lod_tensor(ints(3, 2, dtype=dtype), [2, 1]), "Offset": column(1, 0), "Length": column(1, 1)}, {})
        for dtype in ("int32", "int64")
    },
)


@pytest.mark.parametrize(
    "offset, length, words", [(column(2, 0), column(2, 1), "sequence 0"), (column(0, 0), column(1, 1), "2 rows in all")]
)
def test_gradient_reads_its_data_with_care(offset, length, words):
    inputs = {"X": sequences(3, 2), "Offset": offset, "Length": length, "Out@GRAD": array(3, 3)}
    with pytest.raises(pm.OpError) as caught:
        run_op("sequence_slice_grad", inputs)
    assert words in str(caught.value)
