"""fill_zeros_like, fill_zeros_like2: 0, in the shape of X."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests

NAMES = {0: "bool", 2: "int32", 3: "int64", 5: "float32", 6: "float64"}
REFUSALS = {"selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows")}

test_fill_zeros_like = op_tests(
    "fill_zeros_like",
    lambda inputs, attrs: {"Out": np.zeros_like(inputs["X"])},
    cases={
        "matrix": ({"X": array(3, 4)}, {}),
        "integers": ({"X": ints(3, 4)}, {}),
        "bool": ({"X": ints(3, 4) > 2}, {}),
        "one element": ({"X": array()}, {}),
        "no rows": ({"X": array(0, 4)}, {}),
    },
    refusals=REFUSALS,
)
test_fill_zeros_like2 = op_tests(
    "fill_zeros_like2",
    lambda inputs, attrs: {"Out": np.zeros(inputs["X"].shape, NAMES[attrs["dtype"]])},
    cases={
        **{name: ({"X": array(3, 4)}, {"dtype": number}) for number, name in NAMES.items()},
        "one element": ({"X": array()}, {"dtype": 5}),
        "no rows": ({"X": array(0, 4)}, {"dtype": 5}),
    },
    refusals=REFUSALS,
)
