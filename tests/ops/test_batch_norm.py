"""batch_norm: Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, channel by channel."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    momentum, epsilon = np.float32(attrs["momentum"]).astype(float), np.float32(attrs["epsilon"]).astype(float)
    channel = 1 if attrs["data_layout"] == "NCHW" else x.ndim - 1
    others = tuple(i for i in range(x.ndim) if i != channel)
    shape = [-1 if i == channel else 1 for i in range(x.ndim)]
    scale, bias = inputs.get("Scale", np.ones(x.shape[channel])), inputs.get("Bias", np.zeros(x.shape[channel]))
    mean, variance = inputs["Mean"], inputs["Variance"]
    out = {"MeanOut": mean, "VarianceOut": variance}
    kept = attrs["use_global_stats"] or (attrs["is_test"] and not attrs["trainable_statistics"])
    if not kept and x.size:
        # Trap: the variance kept over the batches is the biased one, divided by n.
        mean, variance = x.mean(axis=others), x.var(axis=others)
        out = {
            "MeanOut": momentum * inputs["Mean"] + (1 - momentum) * mean,
            "VarianceOut": momentum * inputs["Variance"] + (1 - momentum) * variance,
        }
    # Trap: SavedVariance is 1 / standard deviation.
    s = 1 / np.sqrt(variance + epsilon)
    y = ((x - mean.reshape(shape)) * (s * scale).reshape(shape)) + bias.reshape(shape)
    if not kept and x.size == x.shape[channel]:
        # Trap: a channel of one element is copied and does not change the statistics
        return {
            "Y": x,
            "SavedMean": 0 * mean,
            "SavedVariance": 0 * mean,
            "MeanOut": inputs["Mean"],
            "VarianceOut": inputs["Variance"],
        }
    return {"Y": y, "SavedMean": mean, "SavedVariance": s, **out}


def batch(*shape, channels, **left_out):
    inputs = {
        "X": array(*shape, low=-2, high=3),
        "Scale": array(channels, low=0.5, seed=1),
        "Bias": array(channels, seed=2),
        "Mean": array(channels, seed=3),
        "Variance": array(channels, low=0.5, high=2, seed=4),
    }
    return {port: value for port, value in inputs.items() if port not in left_out}


CASES = {
    "images": (batch(3, 4, 5, 5, channels=4), {}),
    "images, channels last": (batch(3, 5, 5, 4, channels=4), {"data_layout": "NHWC"}),
    "rows": (batch(9, 20, channels=20), {}),
    "rows, channels last": (batch(9, 3, channels=3), {"data_layout": "NHWC", "momentum": 0.5, "epsilon": 0.01}),
    "three axes": (batch(3, 2, 40, channels=2), {}),
    "five axes": (batch(2, 3, 2, 2, 2, channels=3), {}),
    "testing": (batch(3, 4, 5, 5, channels=4), {"is_test": True}),
    "statistics of the batch in testing": (batch(3, 4, 5, 5, channels=4), {"is_test": True, "trainable_statistics": True}),
    "kept statistics in training": (batch(3, 5, 5, 4, channels=4), {"use_global_stats": True, "data_layout": "NHWC"}),
    "no scale": (batch(3, 4, 5, channels=4, Scale=0), {}),
    "no bias": (batch(3, 4, 5, channels=4, Bias=0), {}),
}

test_batch_norm = op_tests(
    "batch_norm",
    reference,
    cases={
        **CASES,
        "one element a channel": (batch(1, 4, channels=4), {}),
        "one element": (batch(1, 1, channels=1), {"is_test": True}),
        "no images": (batch(0, 4, 2, 2, channels=4), {}),
    },
    refusals={
        "other channels": (batch(3, 4, channels=5), {}, pm.ShapeError, "Scale [5] 4 channels"),
        "one axis": (batch(4, channels=4), {}, pm.ShapeError, "X [4] dimensions"),
        "unknown layout": (batch(3, 4, channels=4), {"data_layout": "CN"}, pm.ProgramError, "CN NCHW"),
    },
    # Sums of a hundred elements.
    tolerance={"float32": 2e-5, "float64": 1e-11},
)

WITH_BOTH = {name: case for name, case in CASES.items() if not name.startswith("no ")}
test_gradient = op_tests(
    "batch_norm",
    reference,
    WITH_BOTH,
    gradients=["X", "Scale", "Bias"],
    gradient_of=["Y"],
    tolerance={"float32": 2e-5, "float64": 1e-11},
)
test_gradient_without_scale = op_tests(
    "batch_norm",
    reference,
    {"no scale": CASES["no scale"]},
    gradients=["X", "Bias"],
    gradient_of=["Y"],
    tolerance={"float32": 2e-5, "float64": 1e-11},
)


def test_a_large_mean_does_not_eat_the_variance():
    inputs = {port: value.astype("float32") for port, value in batch(50, 3, 4, 4, channels=3).items()}
    inputs["X"] += np.float32(1000)
    out = run_op("batch_norm", inputs)
    np.testing.assert_allclose(1 / out["SavedVariance"] ** 2, inputs["X"].astype(float).var(axis=(0, 2, 3)), rtol=1e-3)


def test_one_element_a_channel_passes_its_gradient_on():
    inputs = {**batch(1, 4, channels=4), "Y@GRAD": array(1, 4, seed=9)}
    inputs = {port: inputs[port] for port in ("X", "Scale", "Bias", "Y@GRAD")}
    inputs.update(SavedMean=array(4), SavedVariance=array(4))
    out = run_op("batch_norm_grad", inputs, outputs=["X@GRAD", "Scale@GRAD", "Bias@GRAD"])
    np.testing.assert_array_equal(out["X@GRAD"], inputs["Y@GRAD"])
    assert not out["Scale@GRAD"].any() and not out["Bias@GRAD"].any()
