"""range: Out = Start, Start + Step, ... without End; its length depends on data."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import run_op


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("start, end, step", [(0, 5, 1), (2, 11, 3), (5, 0, -2), (3, 3, 1), (0, -4, 1), (0, 1, 7)])
def test_range(dtype, start, end, step):
    inputs = {"Start": np.array([start], dtype), "End": np.array([end], dtype), "Step": np.array([step], dtype)}
    out = run_op("range", inputs, {})["Out"]
    expected = np.arange(start, end, step).astype(dtype)
    assert out.dtype == expected.dtype
    np.testing.assert_array_equal(out, expected)


def test_fractions():
    inputs = {port: np.array([value], "float32") for port, value in [("Start", 0), ("End", 1), ("Step", 0.25)]}
    np.testing.assert_array_equal(run_op("range", inputs, {})["Out"], np.array([0, 0.25, 0.5, 0.75], "float32"))


@pytest.mark.parametrize("start, end, step", [(0, 5, 0), (0, 2**62, 1), (-(2**63), 2**63 - 1, 1)])
def test_refused(start, end, step):
    inputs = {port: np.array([value], "int64") for port, value in [("Start", start), ("End", end), ("Step", step)]}
    with pytest.raises(pm.Error):
        run_op("range", inputs, {})
