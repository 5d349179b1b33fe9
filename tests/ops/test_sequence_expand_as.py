"""sequence_expand_as: repeats row i of X by the length of sequence i of Y."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import lod_tensor, sequences


def reference(inputs, attrs):
    x, y = inputs["X"], inputs["Y"]
    rows = x.array if isinstance(x, pm.LoDTensor) else x
    return {"Out": pm.LoDTensor(np.repeat(rows, np.diff(y.lod[0]), axis=0), y.lod)}


test_sequence_expand_as = op_tests(
    "sequence_expand_as",
    reference,
    cases={
        "rows": ({"X": array(3, 2), "Y": sequences(3, 1, 2)}, {}),
        "an empty sequence": ({"X": array(3, 2), "Y": sequences(2, 0, 3)}, {}),
        "X's sequences count nothing": ({"X": sequences(2, 1), "Y": sequences(1, 3, 2)}, {}),
        "integers": ({"X": ints(2, 3), "Y": sequences(2, 1)}, {}),
        "one element": ({"X": array(1), "Y": sequences(1, width=1)}, {}),
        "no rows": ({"X": array(0, 2), "Y": sequences()}, {}),
        "never": ({"X": array(2, 2), "Y": sequences(0, 0)}, {}),
    },
    refusals={
        "other count": ({"X": array(3, 2), "Y": sequences(2, 1)}, {}, pm.ShapeError, "X 3 Y 2"),
        "no lod": ({"X": array(2, 2), "Y": array(2, 2)}, {}, pm.ShapeError, "Y no sequences (lod)"),
        "groups": ({"X": array(2, 2), "Y": lod_tensor(array(3, 2), [1, 1], [2, 1])}, {}, pm.ShapeError, "Y 2 levels"),
        "rank 0": ({"X": array(), "Y": sequences(2)}, {}, pm.ShapeError, "X no dimensions"),
    },
)

test_gradient = op_tests(
    "sequence_expand_as",
    reference,
    cases={
        "rows": ({"X": array(3, 2), "Y": sequences(3, 0, 2)}, {}),
        "never": ({"X": array(2, 2), "Y": sequences(0, 0)}, {}),
        "one element": ({"X": array(1), "Y": sequences(1, width=1)}, {}),
    },
    gradients=["X"],
)


def test_gradient_of_another_shape_is_refused():
    with pytest.raises(pm.ShapeError, match="Out@GRAD"):
        run_op("sequence_expand_as_grad", {"X": array(2, 2), "Y": sequences(2, 1), "Out@GRAD": array(2, 2)})
