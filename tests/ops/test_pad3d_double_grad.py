"""pad3d_double_grad: pad3d of second gradients, as PaddlePaddle's programs write it."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests

SIZES = [1, 2, 0, 1, 1, 0]
WIDTHS = [(0, 0), (0, 0), (1, 0), (0, 1), (1, 2)]


def reference(inputs, attrs):
    widths = WIDTHS if attrs["data_format"] == "NCDHW" else [WIDTHS[0], *WIDTHS[2:], WIDTHS[1]]
    mode = {"replicate": "edge", "circular": "wrap"}.get(attrs["mode"], attrs["mode"])
    return {"grad_out@GRAD": np.pad(inputs["grad_x@GRAD"], widths, mode)}


def given(*shape):
    return {"grad_x@GRAD": array(*shape)}


MODES = ("constant", "reflect", "replicate", "circular")
SHAPE = (2, 3, 2, 4, 5)

test_pad3d_double_grad = op_tests(
    "pad3d_double_grad",
    reference,
    cases={
        **{mode: (given(*SHAPE), {"paddings": SIZES, "mode": mode, "value": 3.0}) for mode in MODES},
        "channels last": (given(*SHAPE), {"paddings": SIZES, "data_format": "NDHWC"}),
        "no volumes": (given(0, 3, 2, 4, 5), {"paddings": SIZES}),
    },
    values_only={"tensor": ({**given(*SHAPE), "Paddings": np.array(SIZES, "int32")}, {"paddings": [0] * 6})},
    open_shapes=True,
    refusals={"rank": (given(2, 3, 4), {"paddings": SIZES}, pm.ShapeError, "[2, 3, 4] 5")},
)
