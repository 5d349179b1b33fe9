"""logspace: powers of Base with evenly spaced exponents; its length depends on data."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import run_op

NUMBERS = {"float32": 5, "float64": 6, "int32": 2, "int64": 3}


def logspace(start, stop, num, dtype, base=10, of=None):
    inputs = {name: np.array([value], of or dtype) for name, value in (("Start", start), ("Stop", stop), ("Base", base))}
    return run_op("logspace", {**inputs, "Num": np.array([num], "int32")}, {"dtype": NUMBERS[dtype]})["Out"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("start, stop, num, base", [(0, 3, 5, 10), (2, -3, 7, 2), (1, 1, 3, 5), (0, 2, 2, 10)])
def test_powers(dtype, start, stop, num, base):
    out = logspace(start, stop, num, dtype, base)
    assert out.dtype == dtype and out.shape == (num,)
    np.testing.assert_allclose(out, np.logspace(start, stop, num, base=base), rtol=1e-6)


def test_one_power_is_that_of_the_start():
    np.testing.assert_array_equal(logspace(3, 8, 1, "float32", 2), [8])


def test_powers_of_integers():
    """PaddlePaddle's numbers."""
    np.testing.assert_array_equal(logspace(0, 3, 5, "int64", 2), [1, 1, 2, 4, 8])


def test_numbers_are_cast_first():
    np.testing.assert_array_equal(logspace(0.9, 2.9, 3, "int32", 10.5, of="float64"), [1, 10, 100])


@pytest.mark.parametrize("num", [0, -1])
def test_refused_numbers(num):
    with pytest.raises(pm.OpError, match=f"Num is {num}"):
        logspace(0, 1, num, "float32")


def test_refused_inputs():
    one, two = np.ones(1, "float32"), np.ones(2, "float32")
    given = {"Start": one, "Stop": one, "Base": one, "Num": np.ones(1, "int32")}
    for port, value in (("Base", two), ("Start", one.astype("bool"))):
        with pytest.raises(pm.ShapeError, match=port):
            run_op("logspace", {**given, port: value}, {"dtype": 5})
