"""layer_norm: Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias over the last axes."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x, begin = inputs["X"], attrs["begin_norm_axis"]
    rows = x.reshape(int(np.prod(x.shape[:begin])), int(np.prod(x.shape[begin:])))
    mean = rows.mean(axis=1) if rows.shape[1] else np.zeros(len(rows))
    variance = rows.var(axis=1) if rows.shape[1] else mean  # Trap: the variance itself
    y = (rows - mean[:, None]) / np.sqrt(variance + np.float64(np.float32(attrs["epsilon"])))[:, None]
    y = y * inputs.get("Scale", 1.0) + inputs.get("Bias", 0.0)
    return {"Y": y.reshape(x.shape), "Mean": mean.reshape(x.shape[:begin]), "Variance": variance.reshape(x.shape[:begin])}


def norm(*shape, begin=1):
    size = int(np.prod(shape[begin:]))
    return {"X": array(*shape, low=-2, high=3), "Scale": array(size, low=0.5, high=2, seed=1), "Bias": array(size, seed=2)}


def without(inputs, *ports):
    return {port: value for port, value in inputs.items() if port not in ports}


CASES = {
    "rows": (norm(6, 20), {}),
    "three axes": (norm(2, 3, 40, begin=2), {"begin_norm_axis": 2}),
    "rows of two axes": (norm(3, 4, 5), {}),
    "large epsilon": (norm(3, 7), {"epsilon": 0.5}),
    "one element": (norm(1, 1), {}),
    "no rows": (norm(0, 4), {}),
    "rows of nothing": (norm(4, 0), {}),
}

test_layer_norm = op_tests(
    "layer_norm",
    reference,
    cases=CASES,
    gradients=["X", "Scale", "Bias"],
    refusals={
        "no such axis": (norm(3, 4), {"begin_norm_axis": 2}, pm.ShapeError, "X [3, 4] 2 begin_norm_axis"),
        "axis 0": (norm(3, 4), {"begin_norm_axis": 0}, pm.ProgramError, "begin_norm_axis 0"),
        "no dimensions": ({"X": array()}, {}, pm.ShapeError, "X []"),
        "short scale": ({**norm(3, 4), "Scale": array(3)}, {}, pm.ShapeError, "Scale [3] 4"),
        "negative epsilon": (norm(3, 4), {"epsilon": -1.0}, pm.ProgramError, "epsilon -1"),
    },
)

test_without_bias = op_tests("layer_norm", reference, {"rows": (without(norm(6, 20), "Bias"), {})}, ["X", "Scale"])
test_without_scale = op_tests("layer_norm", reference, {"rows": (without(norm(6, 20), "Scale"), {})}, ["X", "Bias"])
test_bare = op_tests("layer_norm", reference, {"rows": ({"X": array(6, 20)}, {})}, ["X"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_mean_does_not_eat_the_variance(dtype):
    x = (np.arange(8, dtype=dtype) + 10000).reshape(1, 8)
    np.testing.assert_allclose(run_op("layer_norm", {"X": x})["Variance"], [5.25], rtol=1e-6)
