"""lod_reset: X with other sequences."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op
from sequence_cases import lod_tensor, sequences


def reference(inputs, attrs):
    x, y = inputs["X"], inputs.get("Y")
    rows, lod = (x.array, x.lod) if isinstance(x, pm.LoDTensor) else (x, [])
    if isinstance(y, pm.LoDTensor):
        return {"Out": pm.LoDTensor(rows, y.lod)}
    level = list(attrs["target_lod"]) if y is None else y.tolist()
    return {"Out": pm.LoDTensor(rows, [*lod, level] if attrs["append"] else [level])}


test_lod_reset = op_tests(
    "lod_reset",
    reference,
    cases={
        "target": ({"X": array(5, 2)}, {"target_lod": [0, 2, 5]}),
        "other sequences": ({"X": sequences(1, 4)}, {"target_lod": [0, 2, 2, 5]}),
        "sequences of Y": ({"X": array(5, 2), "Y": sequences(2, 3)}, {}),
        "groups of Y": ({"X": sequences(5), "Y": lod_tensor(array(5, 1), [1, 1], [2, 3])}, {}),
        "Y before the target": ({"X": array(5, 2), "Y": sequences(2, 3)}, {"target_lod": [0, 5]}),
        "offsets in Y": ({"X": array(5, 2), "Y": np.array([0, 4, 5])}, {}),
        "int32 offsets in Y": ({"X": sequences(5), "Y": np.array([0, 1, 5], "int32")}, {}),
        "append": ({"X": sequences(2, 1)}, {"target_lod": [0, 1, 1, 3], "append": True}),
        "append to nothing": ({"X": array(3, 2)}, {"target_lod": [0, 1, 3], "append": True}),
        "integers": ({"X": ints(3)}, {"target_lod": [0, 1, 3]}),
        "one element": ({"X": array(1)}, {"target_lod": [0, 1]}),
        "no rows": ({"X": array(0, 3)}, {"target_lod": [0, 0]}),
    },
    refusals={
        "no target": ({"X": array(3)}, {}, pm.ShapeError, "0 offsets"),
        "other rows": ({"X": array(3)}, {"target_lod": [0, 2]}, pm.ShapeError, "3 rows"),
        "falling": ({"X": array(3)}, {"target_lod": [0, 2, 1, 3]}, pm.ShapeError, "must increase"),
        "not from 0": ({"X": array(3)}, {"target_lod": [1, 3]}, pm.ShapeError, "must increase"),
        "falling in Y": ({"X": array(3), "Y": np.array([0, 2, 1, 3])}, {}, pm.ShapeError, "must increase"),
        "fractions in Y": ({"X": array(3), "Y": array(3)}, {}, pm.ShapeError, "Y float"),
        "Y of other rows": ({"X": array(3), "Y": sequences(2)}, {}, pm.ShapeError, "X 3 Y 2"),
        "append does not fit": ({"X": sequences(2, 1)}, {"target_lod": [0, 3], "append": True}, pm.ShapeError, "3 1"),
        "rank 0": ({"X": array()}, {"target_lod": [0, 1]}, pm.ShapeError, "X no dimensions"),
    },
    open_shapes=True,
)

test_gradient = op_tests(
    "lod_reset",
    reference,
    cases={
        "target": ({"X": array(5, 2)}, {"target_lod": [0, 2, 5]}),
        "other sequences": ({"X": sequences(1, 4)}, {"target_lod": [0, 2, 2, 5]}),
        "offsets in Y": ({"X": sequences(1, 4), "Y": np.array([0, 4, 5])}, {}),
        "no rows": ({"X": array(0, 3)}, {"target_lod": [0, 0]}),
    },
    gradients=["X"],
)


def test_gradient_has_the_sequences_of_x():
    x = sequences(1, 4)
    found = run_op("lod_reset_grad", {"X": x, "Out@GRAD": sequences(3, 2, seed=1)}, {"target_lod": [0, 3, 5]})
    assert found["X@GRAD"].lod == x.lod


def test_offsets_are_read_at_every_run():
    program = pm.Program()
    block = program.global_block()
    block.create_var("x", dtype="float32", shape=[-1, 1], need_check_feed=True)
    block.create_var("y", dtype="int64", shape=[-1], need_check_feed=True)
    block.append_op("lod_reset", {"X": "x", "Y": "y"}, {"Out": "in_sequences"})
    block.append_op("sequence_pool", {"X": "in_sequences"}, {"Out": "out"}, {"pooltype": "SUM"})
    executor, x = pm.Executor(pm.CPUPlace()), np.arange(5, dtype="float32").reshape(5, 1)
    for offsets, sums in [([0, 2, 5], [1, 9]), ([0, 3, 5], [3, 7]), ([0, 5], [10])]:
        (out,) = executor.run(program, feed={"x": x, "y": np.array(offsets)}, fetch_list=["out"], scope=pm.Scope())
        np.testing.assert_array_equal(out[:, 0], sums)


def test_gradient_of_another_shape_is_refused():
    with pytest.raises(pm.ShapeError, match="Out@GRAD"):
        run_op("lod_reset_grad", {"X": array(3, 2), "Out@GRAD": array(2, 2)})
