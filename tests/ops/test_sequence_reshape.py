"""sequence_reshape: the elements of each sequence in rows of another width."""

import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import lod_tensor, sequences, split


def reference(inputs, attrs):
    x, width = inputs["X"], attrs["new_dim"]
    return {"Out": lod_tensor(x.array.reshape(x.array.size // width, width), [part.size // width for part in split(x)])}


test_sequence_reshape = op_tests(
    "sequence_reshape",
    reference,
    cases={
        "narrower": ({"X": sequences(2, 3, width=4)}, {"new_dim": 2}),
        "wider": ({"X": sequences(2, 4, width=2)}, {"new_dim": 4}),
        "the same": ({"X": sequences(2, 3, width=4)}, {"new_dim": 4}),
        "an empty sequence": ({"X": sequences(2, 0, 4)}, {"new_dim": 6}),
        "one element": ({"X": sequences(1, width=1)}, {"new_dim": 1}),
        "no rows": ({"X": sequences(0, 0)}, {"new_dim": 7}),
        "nothing in a row": ({"X": sequences(2, 1, width=0)}, {"new_dim": 2}),
    },
    gradients=["X"],
    values_only={"int32": ({"X": lod_tensor(ints(3, 2, dtype="int32"), [2, 1])}, {"new_dim": 1})},
    refusals={
        "does not divide": ({"X": sequences(2, 3, width=3)}, {"new_dim": 6}, pm.ShapeError, "sequence 1 X 9 6"),
        "zero": ({"X": sequences(2)}, {"new_dim": 0}, pm.ProgramError, "new_dim 0"),
        "rank": ({"X": lod_tensor(array(3), [3])}, {"new_dim": 1}, pm.ShapeError, "X 1 dimensions"),
        "no lod": ({"X": array(2, 3)}, {"new_dim": 3}, pm.ShapeError, "X no sequences (lod)"),
        "groups": ({"X": lod_tensor(array(3, 2), [1, 1], [2, 1])}, {"new_dim": 1}, pm.ShapeError, "X 2 levels"),
    },
)


def test_gradient_of_another_size_is_refused():
    with pytest.raises(pm.ShapeError, match="Out@GRAD"):
        run_op("sequence_reshape_grad", {"X": sequences(2), "Out@GRAD": array(4, 2)})
