"""histogram: the number of elements in intervals of equal width."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    x, low, high = inputs["X"], attrs["min"], attrs["max"]
    if low == high and x.size:
        low, high = x.min(), x.max()
    if low == high:
        low, high = low - 1, high + 1
    return {"Out": np.histogram(x, attrs["bins"], (low, high))[0].astype("int64")}


test_histogram = op_tests(
    "histogram",
    reference,
    cases={
        "range of X": ({"X": array(5, 8)}, {"bins": 7}),
        "given range": ({"X": 5 * array(5, 8)}, {"bins": 4, "min": -1, "max": 3}),
        "ends": ({"X": np.array([1.0, 2, 1, 3, 0])}, {"bins": 3, "min": 0, "max": 3}),
        "equal elements": ({"X": np.full(3, 2.0)}, {"bins": 3}),
        "NaN and infinities": ({"X": np.array([np.nan, np.inf, -np.inf, 1.5])}, {"bins": 2, "min": 1, "max": 2}),
        "int32": ({"X": ints(20).astype("int32")}, {"bins": 3}),
        "int64": ({"X": ints(20)}, {"bins": 5, "min": 2, "max": 7}),
        "one element": ({"X": array()}, {}),
        "no elements": ({"X": array(0, 3)}, {"bins": 2}),
    },
    refusals={
        "wrong order": ({"X": array(3)}, {"min": 2, "max": 1}, pm.ProgramError, "min 2 max 1"),
        "no intervals": ({"X": array(3)}, {"bins": 0}, pm.ProgramError, "bins 0"),
        "infinite range": ({"X": np.array([1.0, np.inf])}, {}, pm.OpError, "inf element 1"),
    },
)


def test_numbers_near_the_end_of_their_range():
    assert np.flatnonzero(run_op("histogram", {"X": np.array([0, 2.05e306, 1e307])}, {})["Out"]).tolist() == [0, 20, 99]
    assert run_op("histogram", {"X": np.array([-1.7e308, 0, 1.7e308])}, {"bins": 2})["Out"].tolist() == [1, 2]
