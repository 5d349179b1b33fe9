"""diag_v2: a matrix with X on a diagonal, or the diagonal of a matrix."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x, offset = inputs["X"], attrs["offset"]
    if x.ndim == 2:
        return {"Out": np.diagonal(x, offset) if -x.shape[0] < offset < x.shape[1] else x.reshape(-1)[:0]}
    out = np.diag(x.reshape(-1), offset)
    beside = np.diag(np.ones(x.size, bool), offset) == 0
    return {"Out": np.where(beside, np.asarray(attrs["padding_value"], x.dtype), out)}


test_diag_v2 = op_tests(
    "diag_v2",
    reference,
    cases={
        "list": ({"X": array(3)}, {}),
        "above": ({"X": array(3)}, {"offset": 2}),
        "below, padded": ({"X": array(3)}, {"offset": -1, "padding_value": 1.5}),
        "a number": ({"X": array()}, {"offset": 1}),
        **{
            f"{shape} {offset}": ({"X": array(*shape)}, {"offset": offset})
            for shape in ((3, 5), (5, 3))
            for offset in (-4, -1, 0, 2, 7)
        },
        "far": ({"X": array(3, 4)}, {"offset": -2147483648}),
        "one element": ({"X": array(1)}, {}),
        "no elements": ({"X": array(0)}, {}),
        "nothing but padding": ({"X": array(0)}, {"offset": 2, "padding_value": 2.0}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    values_only={
        "integers": ({"X": ints(3)}, {"padding_value": 7.0}),
        "of a matrix": ({"X": ints(3, 4, dtype="int32")}, {"offset": 1}),
    },
    refusals={
        "three dimensions": ({"X": array(2, 2, 2)}, {}, pm.ShapeError, "X [2, 2, 2] two"),
        "too wide a padding": ({"X": ints(2)}, {"padding_value": 1e30}, pm.ProgramError, "int64"),
    },
)
