"""prelu: Out = X where X > 0, else Alpha X."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    x, alpha = inputs["X"], inputs["Alpha"]
    if attrs["mode"] == "all":
        alpha = alpha.reshape(())
    elif attrs["mode"] == "element":
        alpha = alpha.reshape(x.shape[1:])
    elif attrs["data_format"] == "NCHW":
        alpha = alpha.reshape((-1,) + (1,) * (x.ndim - 2))
    else:
        alpha = alpha.reshape(-1)
    return {"Out": np.where(x > 0, x, alpha * x)}


CHANNEL, ELEMENT = {"mode": "channel"}, {"mode": "element"}
LAST = {"mode": "channel", "data_format": "NHWC"}

test_prelu = op_tests(
    "prelu",
    reference,
    cases={
        "all": ({"X": array(3, 4), "Alpha": array(1, seed=1)}, {}),
        "all, long": ({"X": array(7, 143), "Alpha": array(1, seed=1)}, {}),
        "channel": ({"X": array(2, 3, 4, 5), "Alpha": array(3, seed=1)}, CHANNEL),
        "channel with ones": ({"X": array(2, 3, 4, 5), "Alpha": array(1, 3, 1, 1, seed=1)}, CHANNEL),
        "channel of a matrix": ({"X": array(5, 37), "Alpha": array(37, seed=1)}, CHANNEL),
        "one channel": ({"X": array(2, 1, 4), "Alpha": array(1, seed=1)}, CHANNEL),
        "channel at the end": ({"X": array(2, 4, 5, 3), "Alpha": array(3, seed=1)}, LAST),
        "element": ({"X": array(2, 3, 4), "Alpha": array(1, 3, 4, seed=1)}, ELEMENT),
        "element without a one": ({"X": array(2, 3, 4), "Alpha": array(3, 4, seed=1)}, ELEMENT),
        "element of a row": ({"X": array(4), "Alpha": array(1, seed=1)}, ELEMENT),
        "one element": ({"X": array(), "Alpha": array(seed=1)}, {}),
        "no rows": ({"X": array(0, 4), "Alpha": array(1, seed=1)}, {}),
        "no rows, channel": ({"X": array(0, 3, 4), "Alpha": array(3, seed=1)}, CHANNEL),
        "no channels": ({"X": array(2, 0, 4), "Alpha": array(0)}, CHANNEL),
        "no rows, element": ({"X": array(0, 3), "Alpha": array(1, 3, seed=1)}, ELEMENT),
    },
    gradients=["X", "Alpha"],
    refusals={
        "two factors": ({"X": array(3, 4), "Alpha": array(2)}, {}, pm.ShapeError, "Alpha [2] 1 elements"),
        "other channels": ({"X": array(2, 3, 4), "Alpha": array(4)}, CHANNEL, pm.ShapeError, "Alpha [4] 3 elements"),
        "other elements": ({"X": array(2, 3, 4), "Alpha": array(2, 3, 4)}, ELEMENT, pm.ShapeError, "Alpha 12 elements"),
        "no channel axis": ({"X": array(3), "Alpha": array(3)}, CHANNEL, pm.ShapeError, "rank 1 at least 2"),
        "no sample axis": ({"X": array(), "Alpha": array(1)}, ELEMENT, pm.ShapeError, "rank 0 at least 1"),
        "no such mode": ({"X": array(3), "Alpha": array(1)}, {"mode": "row"}, pm.ProgramError, "mode row"),
        "no such format": ({"X": array(3), "Alpha": array(1)}, {"data_format": "CN"}, pm.ProgramError, "CN"),
        "other dtype": ({"X": array(3), "Alpha": array(1).astype("float32")}, {}, pm.ShapeError, "float64 float32"),
        "integers": ({"X": ints(3), "Alpha": ints(1)}, {}, pm.Error, "int64"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3), "Alpha": array(1)}, {}, pm.ShapeError, "X selected rows"),
    },
)
