"""tril_triu: X with 0 above or below a diagonal."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": (np.tril if attrs["lower"] else np.triu)(inputs["X"], attrs["diagonal"])}


test_tril_triu = op_tests(
    "tril_triu",
    reference,
    cases={
        **{
            f"{shape} {lower} {diagonal}": ({"X": array(*shape)}, {"lower": lower, "diagonal": diagonal})
            for shape in ((3, 5), (5, 3))
            for lower in (False, True)
            for diagonal in (-2, 0, 1)
        },
        "upper": ({"X": array(2, 3, 4)}, {}),
        "far above": ({"X": array(3, 4)}, {"diagonal": 2147483647, "lower": True}),
        "far below": ({"X": array(3, 4)}, {"diagonal": -2147483648, "lower": True}),
        "one element": ({"X": array(1, 1)}, {"lower": True}),
        "no rows": ({"X": array(0, 4)}, {}),
        "no matrices": ({"X": array(0, 4, 4)}, {"lower": True}),
    },
    gradients=["X"],
    values_only={"integers": ({"X": ints(3, 4)}, {"lower": True}), "truths": ({"X": ints(3, 4, high=2).astype(bool)}, {})},
    refusals={"a list": ({"X": array(3)}, {}, pm.ShapeError, "X [3] two dimensions")},
)
