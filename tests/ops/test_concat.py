"""concat: the tensors X one after the other along an axis."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    return {"Out": np.concatenate(inputs["X"], axis=attrs["axis"])}


test_concat = op_tests(
    "concat",
    reference,
    cases={
        "first axis": ({"X": [array(3, 4), array(2, 4)]}, {}),
        "last axis": ({"X": [array(3, 4), array(3, 2), array(3, 1)]}, {"axis": 1}),
        "negative axis": ({"X": [array(2, 3, 4), array(2, 5, 4)]}, {"axis": -2}),
        "one": ({"X": [array(3, 4)]}, {}),
        "one element": ({"X": [array(1), array(1, seed=1)]}, {}),
        "no rows": ({"X": [array(0, 4), array(2, 4), array(0, 4)]}, {}),
        "nothing": ({"X": [array(3, 0), array(3, 0)]}, {"axis": 1}),
    },
    gradients=["X"],
    values_only={
        dtype: ({"X": [ints(3, 2, high=2).astype(dtype), ints(3, 3, high=2).astype(dtype)]}, {"axis": 1})
        for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64")
    },
    refusals={
        "other width": ({"X": [array(3, 4), array(3, 5)]}, {}, pm.ShapeError, "X[1] [3, 5] [3, 4]"),
        "other rank": ({"X": [array(3, 4), array(3)]}, {}, pm.ShapeError, "X[1] [3]"),
        "other dtype": ({"X": [array(3), ints(3)]}, {}, pm.ShapeError, "X[1] int64"),
        "no such axis": ({"X": [array(3), array(3)]}, {"axis": 1}, pm.ShapeError, "axis 1"),
        "numbers": ({"X": [array(), array()]}, {}, pm.ShapeError, "X[0] no dimensions"),
        "selected rows": ({"X": [Rows([1], array(1, 2), 3)]}, {}, pm.ShapeError, "X selected rows"),
    },
)


def test_gradients_that_nobody_wants():
    program, scope = pm.Program(), pm.Scope()
    block = program.global_block()
    for name, value in {"a": array(2, 3), "b": array(2, 4), "g": array(2, 7)}.items():
        block.create_var(name, dtype="float64", shape=value.shape, persistable=True)
        scope.set(name, value)
    block.append_op("concat_grad", {"X": ["a", "b"], "Out@GRAD": "g"}, {"X@GRAD": ["@EMPTY@", "db"]}, {"axis": 1})
    (found,) = pm.Executor(pm.CPUPlace()).run(program, fetch_list=["db"], scope=scope)
    np.testing.assert_array_equal(found, array(2, 7)[:, 3:])


def test_refuses_more_gradients_than_inputs():
    inputs = {"X": [array(2, 3)], "Out@GRAD": array(2, 3)}
    try:
        run_op("concat_grad", inputs, {}, outputs={"X@GRAD": 2})
    except pm.ProgramError as error:
        assert "2 X@GRAD for 1 X" in str(error)
    else:
        raise AssertionError("not refused")
