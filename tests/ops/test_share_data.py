"""share_data: Out = X."""

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": inputs["X"]}


test_share_data = op_tests(
    "share_data",
    reference,
    cases={
        "matrix": ({"X": array(3, 4)}, {}),
        "integers": ({"X": ints(3, 4)}, {}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    refusals={"selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows")},
)
