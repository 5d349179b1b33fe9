"""linspace: Out = Num numbers from Start to Stop; its length depends on data."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import run_op

NUMBERS = {"float32": 5, "float64": 6, "int32": 2, "int64": 3}


def linspace(start, stop, num, dtype, of=None, num_type="int32"):
    inputs = {"Start": np.array([start], of or dtype), "Stop": np.array([stop], of or dtype), "Num": np.array([num], num_type)}
    return run_op("linspace", inputs, {"dtype": NUMBERS[dtype]})["Out"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("start, stop, num", [(0, 1, 5), (2, -3, 7), (1, 1, 3), (0, 10, 2), (-1, 4, 100)])
@pytest.mark.parametrize("num_type", ["int32", "int64"])
def test_numbers(dtype, start, stop, num, num_type):
    out = linspace(start, stop, num, dtype, num_type=num_type)
    assert out.dtype == dtype and out.shape == (num,) and out[-1] == stop
    np.testing.assert_allclose(out, np.linspace(start, stop, num), rtol=1e-6, atol=1e-6)


def test_one_number_is_the_start():
    np.testing.assert_array_equal(linspace(3, 8, 1, "float32"), [3])


def test_whole_numbers_are_cut():
    np.testing.assert_array_equal(linspace(0, 10, 4, "int64"), [0, 3, 6, 10])
    np.testing.assert_array_equal(linspace(0, 10, 4, "int32"), [0, 3, 6, 10])


def test_ends_are_cast_first():
    np.testing.assert_array_equal(linspace(0.9, 4.9, 5, "int32", of="float64"), [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(linspace(0, 1, 3, "float32", of="int64"), np.array([0, 0.5, 1], "float32"))


@pytest.mark.parametrize("stop", [np.inf, -np.inf, np.nan, 1e300])
def test_ends_that_a_whole_type_cannot_hold(stop):
    assert linspace(0.0, stop, 3, "int32", of="float64").shape == (3,)
    limits = np.iinfo("int64")
    assert linspace(limits.min, limits.max, 3, "int64")[0] == limits.min


@pytest.mark.parametrize("num, error", [(0, pm.OpError), (-1, pm.OpError), (2**62, pm.Error)])
def test_refused_numbers(num, error):
    with pytest.raises(error):
        linspace(0, 1, num, "float32", num_type="int64")


def test_refused_inputs():
    one, two = np.ones(1, "float32"), np.ones(2, "float32")
    count = np.ones(1, "int32")
    with pytest.raises(pm.ShapeError, match="Start"):
        run_op("linspace", {"Start": two, "Stop": one, "Num": count}, {"dtype": 5})
    with pytest.raises(pm.ShapeError, match="Num"):
        run_op("linspace", {"Start": one, "Stop": one, "Num": one}, {"dtype": 5})
    with pytest.raises(pm.Error):
        run_op("linspace", {"Start": one, "Stop": one, "Num": count}, {"dtype": 77})
    with pytest.raises(pm.Error):
        run_op("linspace", {"Start": one, "Stop": one, "Num": count}, {"dtype": 0})
