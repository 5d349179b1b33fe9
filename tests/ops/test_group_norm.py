"""group_norm: Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, over groups of channels of an image."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x, groups = inputs["X"], attrs["groups"]
    last = attrs["data_layout"] == "NHWC"
    first = np.moveaxis(x, -1, 1) if last else x
    rows = first.reshape(x.shape[0], groups, int(np.prod(first.shape[1:])) // groups)
    mean = rows.mean(axis=2) if rows.shape[2] else np.zeros(rows.shape[:2])
    variance = rows.var(axis=2) if rows.shape[2] else mean
    y = (rows - mean[..., None]) / np.sqrt(variance + np.float64(np.float32(attrs["epsilon"])))[..., None]
    y = np.moveaxis(y.reshape(first.shape), 1, -1)
    y = y * inputs.get("Scale", 1.0) + inputs.get("Bias", 0.0)
    return {"Y": y if last else np.moveaxis(y, -1, 1), "Mean": mean, "Variance": variance}


def norm(*shape, channels):
    return {
        "X": array(*shape, low=-2, high=3),
        "Scale": array(channels, low=0.5, high=2, seed=1),
        "Bias": array(channels, seed=2),
    }


def without(inputs, *ports):
    return {port: value for port, value in inputs.items() if port not in ports}


LAST = {"groups": 2, "data_layout": "NHWC"}
test_group_norm = op_tests(
    "group_norm",
    reference,
    cases={
        "images": (norm(2, 6, 5, 4, channels=6), {"groups": 3}),
        "channels last": (norm(2, 5, 4, 6, channels=6), LAST),
        "wide channels last": (norm(2, 3, 40, channels=40), LAST),
        "large epsilon": (norm(2, 4, 7, channels=4), {"groups": 2, "epsilon": 0.5}),
        "each channel": (norm(2, 4, 7, channels=4), {"groups": 4}),
        "one group": (norm(2, 4, 7, channels=4), {"groups": 1}),
        "rows": (norm(3, 8, channels=8), {"groups": 2}),
        "rows, channels last": (norm(3, 8, channels=8), LAST),
        "one element": (norm(1, 1, 1, 1, channels=1), {"groups": 1}),
        "no images": (norm(0, 4, 2, 2, channels=4), {"groups": 2}),
        "no pixels": (norm(2, 4, 0, channels=4), {"groups": 2}),
        "no channels": (norm(2, 0, 3, channels=0), {"groups": 2}),
        "no channels last": (norm(2, 3, 0, channels=0), LAST),
    },
    gradients=["X", "Scale", "Bias"],
    refusals={
        "channels that do not divide": (norm(2, 6, 3, channels=6), {"groups": 4}, pm.ShapeError, "X [2, 6, 3] 6 4"),
        "no groups": (norm(2, 6, 3, channels=6), {"groups": 0}, pm.ProgramError, "groups 0"),
        "no number of groups": (norm(2, 6, 3, channels=6), {}, pm.ProgramError, "groups"),
        "no channels at all": ({"X": array(3)}, {"groups": 1}, pm.ShapeError, "X [3]"),
        "short scale": ({**norm(2, 6, 3, channels=6), "Scale": array(3)}, {"groups": 2}, pm.ShapeError, "Scale [3] 6"),
        "negative epsilon": (norm(2, 6, 3, channels=6), {"groups": 2, "epsilon": -1.0}, pm.ProgramError, "epsilon -1"),
    },
)

BOTH = {"first": (norm(2, 6, 5, channels=6), {"groups": 3}), "last": (norm(2, 5, 6, channels=6), LAST)}


def bare(*ports):
    return {name: (without(inputs, *ports), attrs) for name, (inputs, attrs) in BOTH.items()}


test_without_bias = op_tests("group_norm", reference, bare("Bias"), ["X", "Scale"])
test_without_scale = op_tests("group_norm", reference, bare("Scale"), ["X", "Bias"])
test_bare = op_tests("group_norm", reference, bare("Scale", "Bias"), ["X"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_mean_does_not_eat_the_variance(dtype):
    x = (np.arange(8, dtype=dtype) + 10000).reshape(1, 2, 4)
    np.testing.assert_allclose(run_op("group_norm", {"X": x}, {"groups": 1})["Variance"], [[5.25]], rtol=1e-6)
