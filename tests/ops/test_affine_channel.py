"""affine_channel: Out = Scale X + Bias, with a Scale and a Bias for each channel."""

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    last = attrs["data_layout"] != "NCHW"
    shape = (-1,) if last else (x.shape[1],) + (1,) * (x.ndim - 2)
    scale, bias = (inputs[port].reshape(shape) for port in ("Scale", "Bias"))
    return {"Out": x * scale + bias}


def three(*shape, channels):
    return {"X": array(*shape), "Scale": array(channels, seed=1), "Bias": array(channels, seed=2)}


test_affine_channel = op_tests(
    "affine_channel",
    reference,
    cases={
        "images": (three(2, 5, 4, 3, channels=3), {}),
        "any layout": (three(2, 3, 4, 5, channels=5), {"data_layout": "AnyLayout"}),
        "channels first": (three(2, 3, 5, 4, channels=3), {"data_layout": "NCHW"}),
        "channels last": (three(2, 5, 4, 20, channels=20), {"data_layout": "NHWC"}),
        "rows": (three(4, 5, channels=5), {}),
        "rows, channels last": (three(4, 5, channels=5), {"data_layout": "NHWC"}),
        "one element": (three(1, 1, 1, 1, channels=1), {}),
        "no images": (three(0, 3, 2, 2, channels=3), {"data_layout": "NCHW"}),
        "no channels": (three(2, 0, 2, 2, channels=0), {"data_layout": "NCHW"}),
    },
    gradients=["X", "Scale", "Bias"],
    refusals={
        "short scale": ({**three(2, 3, 4, channels=3), "Scale": array(2)}, {}, pm.ShapeError, "Scale [2] 3"),
        "no channels at all": ({"X": array(3), "Scale": array(3), "Bias": array(3)}, {}, pm.ShapeError, "X [3]"),
        "unknown layout": (three(2, 3, 4, channels=3), {"data_layout": "CNHW"}, pm.ProgramError, "data_layout CNHW"),
    },
)
