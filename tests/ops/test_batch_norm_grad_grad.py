"""batch_norm_grad_grad: the gradient of batch_norm_grad, as PaddlePaddle's programs write it."""

import numpy as np

import paddle_mini as pm
from families.normalizations import first_gradients, second_gradients
from harness import array, op_tests

EPSILON = 1e-5
LAST = {"data_layout": "NHWC"}
RUNNING = {"use_global_stats": True}


def given(*shape, channel=1, scale=True, second=("X", "Scale", "Bias"), running=False):
    x, channels = array(*shape), shape[channel]
    axes = tuple(axis for axis in range(len(shape)) if axis != channel)
    saved = (
        {"SavedMean": x.mean(axes), "SavedVariance": 1 / np.sqrt(x.var(axes) + EPSILON)}
        if x.size
        else {"SavedMean": array(channels), "SavedVariance": array(channels)}
    )
    seconds = {"X": array(*shape, seed=3), "Scale": array(channels, seed=4), "Bias": array(channels, seed=5)}
    return {
        "X": x,
        **({"Scale": 1 + array(channels, seed=2)} if scale else {}),
        **saved,
        **({"Mean": array(channels, seed=6), "Variance": 1.5 + array(channels, seed=7)} if running else {}),
        "DY": array(*shape, seed=1),
        **{f"DD{name}": seconds[name] for name in second},
    }


def reference(inputs, attrs):
    x, g = inputs["X"], inputs["DY"]
    channel = 1 if attrs["data_layout"] == "NCHW" else x.ndim - 1
    channels, axes = x.shape[channel], tuple(axis for axis in range(x.ndim) if axis != channel)
    scale = inputs.get("Scale", np.ones(channels))
    weights = [
        inputs.get(f"DD{name}", np.zeros(shape)) for name, shape in (("X", x.shape), ("Scale", channels), ("Bias", channels))
    ]
    uses_running = attrs["use_global_stats"] or (attrs["is_test"] and not attrs["trainable_statistics"])
    running = [inputs["Mean"], inputs["Variance"]] if uses_running else None
    first = lambda x, scale, g: first_gradients(x, scale, g, axes, channel, EPSILON, running)
    to_x, to_scale, to_g = second_gradients(first, [x, scale, g], weights)
    return {"DX": to_x, "DScale": to_scale, "DDY": to_g}


test_batch_norm_grad_grad = op_tests(
    "batch_norm_grad_grad",
    reference,
    cases={
        "images": (given(2, 3, 2, 2), {}),
        "channels last": (given(2, 2, 2, 3, channel=3), LAST),
        "rows": (given(4, 3), {}),
        "no scale": (given(3, 2, 2, scale=False, second=["X"]), {}),
        "only scale and bias": (given(3, 2, 2, second=["Scale", "Bias"]), {}),
        "running statistics": (given(2, 3, 2, 2, running=True), RUNNING),
        "running statistics in testing, channels last": (given(2, 2, 3, channel=2, running=True), {**LAST, "is_test": True}),
        "those of the batch in testing": (given(2, 3, 2), {"is_test": True, "trainable_statistics": True}),
    },
    tolerance={"float32": 3e-4, "float64": 1e-7},
    refusals={
        "a vector": ({**given(2, 3), "X": array(3)}, {}, pm.ShapeError, "X [3] 2 to 5"),
        "scale": ({**given(2, 3), "Scale": array(2)}, {}, pm.ShapeError, "Scale [2] [3]"),
        "gradient": ({**given(2, 3), "DY": array(3)}, {}, pm.ShapeError, "DY [3] [2, 3]"),
        "no running statistics": (given(2, 3), RUNNING, pm.ProgramError, "Mean Variance"),
    },
)
