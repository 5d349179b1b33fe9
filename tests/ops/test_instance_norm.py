"""instance_norm: Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, over each channel of an image."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    rows = x.reshape(x.shape[0] * x.shape[1], int(np.prod(x.shape[2:])))
    mean = rows.mean(axis=1) if rows.shape[1] else np.zeros(len(rows))
    variance = rows.var(axis=1) if rows.shape[1] else mean
    saved = 1 / np.sqrt(variance + np.float64(np.float32(attrs["epsilon"])))
    y = ((rows - mean[:, None]) * saved[:, None]).reshape(x.shape)
    channels = (1, -1) + (1,) * (x.ndim - 2)
    scale, bias = (
        np.reshape(inputs.get(port, preset), channels if port in inputs else ())
        for port, preset in (("Scale", 1.0), ("Bias", 0.0))
    )
    return {"Y": y * scale + bias, "SavedMean": mean, "SavedVariance": saved}


def norm(*shape):
    return {
        "X": array(*shape, low=-2, high=3),
        "Scale": array(shape[1], low=0.5, high=2, seed=1),
        "Bias": array(shape[1], seed=2),
    }


def without(inputs, *ports):
    return {port: value for port, value in inputs.items() if port not in ports}


test_instance_norm = op_tests(
    "instance_norm",
    reference,
    cases={
        "images": (norm(2, 3, 5, 4), {}),
        "volumes": (norm(2, 3, 2, 3, 4), {}),
        "lines": (norm(2, 3, 40), {"epsilon": 0.5}),
        "one element": (norm(1, 1, 1), {"epsilon": 0.5}),
        "no images": (norm(0, 3, 2), {}),
        "no pixels": (norm(2, 3, 0), {}),
    },
    gradients=["X", "Scale", "Bias"],
    refusals={
        "no channels": ({"X": array(3)}, {}, pm.ShapeError, "X [3] 2 5"),
        "short bias": ({**norm(2, 6, 3), "Bias": array(3)}, {}, pm.ShapeError, "Bias [3] 6"),
        "negative epsilon": (norm(2, 6, 3), {"epsilon": -1.0}, pm.ProgramError, "epsilon -1"),
    },
)

IMAGES = norm(2, 3, 5, 4)
test_without_bias = op_tests("instance_norm", reference, {"images": (without(IMAGES, "Bias"), {})}, ["X", "Scale"])
test_bare = op_tests("instance_norm", reference, {"images": (without(IMAGES, "Scale", "Bias"), {})}, ["X"])


def test_nothing_saved():
    saved = run_op("instance_norm", IMAGES, outputs=["Y", "SavedMean", "SavedVariance"])
    np.testing.assert_array_equal(run_op("instance_norm", IMAGES)["Y"], saved["Y"])
