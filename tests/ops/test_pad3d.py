"""pad3d: volumes with a border."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op

MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def reference(inputs, attrs):
    p = attrs["paddings"]
    spatial = [(p[4], p[5]), (p[2], p[3]), (p[0], p[1])]
    pairs = [(0, 0), *spatial, (0, 0)] if attrs["data_format"] == "NDHWC" else [(0, 0), (0, 0), *spatial]
    value = {"constant_values": attrs["value"]} if attrs["mode"] == "constant" else {}
    padded = np.pad(inputs["X"], [(max(a, 0), max(b, 0)) for a, b in pairs], MODES[attrs["mode"]], **value)
    return {"Out": padded[tuple(slice(max(-a, 0), size - max(-b, 0)) for (a, b), size in zip(pairs, padded.shape))]}


test_pad3d = op_tests(
    "pad3d",
    reference,
    cases={
        **{mode: ({"X": array(1, 2, 3, 4, 3)}, {"paddings": [1, 2, 3, 0, 0, 2], "mode": mode}) for mode in MODES},
        "value": ({"X": array(2, 1, 2, 2, 2)}, {"paddings": [1, 1, 1, 1, 1, 1], "value": 0.5}),
        "channels last": (
            {"X": array(1, 2, 3, 4, 2)},
            {"paddings": [1, 2, 0, 1, 1, 0], "mode": "reflect", "data_format": "NDHWC"},
        ),
        "around twice": ({"X": array(1, 1, 1, 1, 2)}, {"paddings": [5, 5, 2, 2, 0, 0], "mode": "circular"}),
        "one element": ({"X": array(1, 1, 1, 1, 1)}, {"paddings": [1, 1, 0, 0, 0, 1], "mode": "replicate"}),
        "no images": ({"X": array(0, 2, 3, 4, 3)}, {"paddings": [1, 1, 1, 1, 1, 1], "mode": "reflect"}),
        **{
            f"{mode}, negative": ({"X": array(1, 2, 3, 4, 5)}, {"paddings": [-1, 2, 0, -2, -1, 0], "mode": mode})
            for mode in MODES
        },
        "nothing": ({"X": array(1, 1, 0, 1, 1)}, {"paddings": [0, 0, 0, 0, 1, 1]}),
    },
    gradients=["X"],
    refusals={
        "matrix": ({"X": array(3, 4)}, {"paddings": [0] * 6}, pm.ShapeError, "[3, 4] 5"),
        "too wide": (
            {"X": array(1, 1, 2, 2, 2)},
            {"paddings": [2, 0, 0, 0, 0, 0], "mode": "reflect"},
            pm.ShapeError,
            "reflect 3",
        ),
        "of nothing": (
            {"X": array(1, 1, 2, 2, 0)},
            {"paddings": [2, 0, 0, 0, 0, 0], "mode": "circular"},
            pm.ShapeError,
            "circular 1",
        ),
        "no such mode": ({"X": array(1, 1, 2, 2, 2)}, {"paddings": [0] * 6, "mode": "other"}, pm.ProgramError, "mode"),
        "more than there is": (
            {"X": array(1, 1, 2, 2, 2)},
            {"paddings": [-1, -2, 0, 0, 0, 0]},
            pm.ShapeError,
            "X [1, 1, 2, 2, 2] 2 elements remove 3",
        ),
    },
)


# pad3d_double_grad: the gradient of the gradient, as PaddlePaddle's programs write it.
SIZES = [1, 2, 0, 1, 1, 0]
WIDTHS = [(0, 0), (0, 0), (1, 0), (0, 1), (1, 2)]


def second(inputs, attrs):
    widths = WIDTHS if attrs["data_format"] == "NCDHW" else [WIDTHS[0], *WIDTHS[2:], WIDTHS[1]]
    return {"grad_out@GRAD": np.pad(inputs["grad_x@GRAD"], widths, MODES[attrs["mode"]])}


def second_given(*shape):
    return {"grad_x@GRAD": array(*shape)}


SECOND = (2, 3, 2, 4, 5)

test_pad3d_double_grad = op_tests(
    "pad3d_double_grad",
    second,
    cases={
        **{mode: (second_given(*SECOND), {"paddings": SIZES, "mode": mode}) for mode in MODES},
        "channels last": (second_given(*SECOND), {"paddings": SIZES, "data_format": "NDHWC"}),
        "no volumes": (second_given(0, 3, 2, 4, 5), {"paddings": SIZES}),
    },
    values_only={"tensor": ({**second_given(*SECOND), "Paddings": np.array(SIZES, "int32")}, {"paddings": [0] * 6})},
    open_shapes=True,
    refusals={"rank": (second_given(2, 3, 4), {"paddings": SIZES}, pm.ShapeError, "[2, 3, 4] 5")},
)


def test_the_border_of_a_second_gradient_is_zero():
    """PaddlePaddle has the constant there, which is not a derivative."""
    inputs = second_given(*SECOND)
    plain = run_op("pad3d_double_grad", inputs, {"paddings": SIZES})["grad_out@GRAD"]
    found = run_op("pad3d_double_grad", inputs, {"paddings": SIZES, "value": 3.0})["grad_out@GRAD"]
    np.testing.assert_array_equal(found, plain)
