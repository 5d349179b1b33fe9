"""all_finite: whether every element of every X is finite."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    return {"Out": np.array([all(np.isfinite(x).all() for x in inputs["X"])])}


def with_one(value, place, size=5000):
    x = array(size)
    x[place] = value
    return x


test_all_finite = op_tests(
    "all_finite",
    reference,
    cases={
        "one": ({"X": [array(3, 4)]}, {}),
        "many": ({"X": [array(3, 4), array(), array(5000), array(0, 4)]}, {}),
        "no elements": ({"X": [array(0, 4)]}, {}),
        "NaN": ({"X": [array(3, 4), with_one(np.nan, 4999)]}, {}),
        "infinity": ({"X": [with_one(np.inf, 0), array(3)]}, {}),
        "minus infinity in the middle": ({"X": [array(3), with_one(-np.inf, 2500), array(2)]}, {}),
        "infinities that cancel": ({"X": [np.array([np.inf, -np.inf])]}, {}),
    },
    refusals={
        "two element types": ({"X": [array(3), array(3).astype("float32")]}, {}, pm.ShapeError, "X float32 float64"),
        "integers": ({"X": [ints(3)]}, {}, pm.Error, "int64"),
        "selected rows": ({"X": [Rows([1], array(1, 2), 3)]}, {}, pm.ShapeError, "X selected rows"),
    },
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_numbers_are_finite(dtype):
    # Neither a sum nor a product of them would be finite.
    limits = np.finfo(dtype)
    x = np.tile(np.array([limits.max, limits.min, limits.tiny, -0.0], dtype), 1000)
    assert run_op("all_finite", {"X": [x, x]})["Out"].tolist() == [True]


@pytest.mark.parametrize("place", [0, 1, 6, 7, 8, 15, 16, 17, 30, 36])
def test_every_place_is_looked_at(place):
    for value in (np.nan, np.inf, -np.inf):
        for dtype in ("float32", "float64"):
            x = with_one(value, place, 37).astype(dtype)
            assert run_op("all_finite", {"X": [x]})["Out"].tolist() == [False]
