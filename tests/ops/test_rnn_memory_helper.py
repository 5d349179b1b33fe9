"""rnn_memory_helper: Out = X, the memory of a recurrent step of PaddlePaddle 1.x."""

import paddle_mini as pm
from harness import Rows, array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": inputs["X"]}


test_rnn_memory_helper = op_tests(
    "rnn_memory_helper",
    reference,
    cases={
        "matrix": ({"X": array(3, 4)}, {}),
        "number": ({"X": array()}, {}),
        "one element": ({"X": array(1)}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    gradients=["X"],
    values_only={"int64": ({"X": ints(3, 4)}, {})},
    refusals={"selected rows": ({"X": Rows([1], array(1, 5), 4)}, {}, pm.ShapeError, "X selected rows")},
)
