# What the tests of reductions share: cases and refusals of reduce_max, reduce_min, reduce_amax, reduce_amin, reduce_prod.
import numpy as np
import pytest

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference_of(extreme):
    def reference(inputs, attrs):
        x = inputs["X"]
        axes = tuple(attrs["dim"]) if attrs["dim"] and not attrs["reduce_all"] and x.ndim else None
        return {"Out": np.asarray(extreme(x, axis=axes, keepdims=attrs["keep_dim"]))}

    return reference


CASES = {
    "first axis": ({"X": array(3, 4)}, {}),
    "last axis": ({"X": array(3, 5)}, {"dim": [-1]}),
    "middle axis": ({"X": array(3, 4, 5)}, {"dim": [1]}),
    "two axes": ({"X": array(3, 2, 4)}, {"dim": [0, 2]}),
    "kept": ({"X": array(3, 2, 4)}, {"dim": [0, -1], "keep_dim": True}),
    "reduce_all": ({"X": array(3, 4)}, {"reduce_all": True}),
    "no axes named": ({"X": array(3, 4)}, {"dim": []}),
    "one element": ({"X": array()}, {}),
    "no rows": ({"X": array(0, 4)}, {"dim": [1]}),
}
REFUSALS = {
    "no such axis": ({"X": array(3, 4)}, {"dim": [2]}, pm.ShapeError, "dim 2"),
    "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
}


def extreme_tests(op_type, extreme):
    """The harness's questions for one of them."""
    return op_tests(op_type, reference_of(extreme), cases=CASES, gradients=["X"], refusals=REFUSALS)


def whole_number_tests(op_type, extreme):
    return op_tests(op_type, reference_of(extreme), cases={"whole numbers": ({"X": ints(3, 4, high=3)}, {})})


def check_of_nothing(op_type):
    for inputs, attrs in (
        (array(0, 4), {}),
        (array(2, 0), {"dim": [1]}),
        (array(0, 4), {"reduce_all": True}),
        (array(0), {"dim": []}),
    ):
        with pytest.raises(pm.ShapeError, match=r"X has shape .*, which has no largest or smallest element"):
            run_op(op_type, {"X": inputs}, attrs)


def check_out_dtype(op_type):
    """PaddlePaddle ignores it."""
    for dtype in ("float32", "float64", "int32", "int64"):
        x = np.array([[1, 2], [3, 4]], dtype)
        for number in range(2, 7):
            assert run_op(op_type, {"X": x}, {"out_dtype": number})["Out"].dtype == dtype


def check_nan(op_type):
    assert np.isnan(run_op(op_type, {"X": np.array([1.0, np.nan, 3.0])})["Out"])
