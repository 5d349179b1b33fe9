"""pow: Out = X to the power of a factor."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    factor = float(np.reshape(inputs.get("FactorTensor", attrs["factor"]), ()))
    if x.dtype.kind == "i":
        factor = int(factor)
    with np.errstate(all="ignore"):
        return {"Out": np.power(x, factor)}


test_pow = op_tests(
    "pow",
    reference,
    cases={
        "factor 1": ({"X": array(3, 4, low=0.5, high=3)}, {}),
        "square": ({"X": array(3, 4, low=-2, high=2)}, {"factor": 2.0}),
        "cube": ({"X": array(1003, low=-2, high=2)}, {"factor": 3.0}),
        "root": ({"X": array(7, 33, low=0.5, high=3)}, {"factor": 0.5}),
        "below 0": ({"X": array(7, 33, low=0.5, high=3)}, {"factor": -1.5}),
        "factor 0": ({"X": array(3, 4, low=0.5, high=3)}, {"factor": 0.0}),
        "one element": ({"X": array(low=0.5, high=3)}, {"factor": 2.5}),
        "no rows": ({"X": array(0, 4)}, {"factor": 2.5}),
        "factor is a tensor": ({"X": array(3, 4, low=0.5, high=3), "FactorTensor": np.array([2.0])}, {"factor": 9.0}),
        "factor is a number": ({"X": array(3, 4, low=0.5, high=3), "FactorTensor": np.array(-0.5)}, {}),
    },
    gradients=["X"],
    refusals={
        "two factors": ({"X": array(3), "FactorTensor": array(2)}, {}, pm.ShapeError, "FactorTensor [2] one element"),
        "a whole factor": ({"X": array(3), "FactorTensor": ints(1)}, {}, pm.Error, "FactorTensor int64"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, {}, pm.ShapeError, "X selected rows"),
        "bool": ({"X": np.array([True])}, {}, pm.Error, "bool"),
    },
)

test_whole_numbers = op_tests(
    "pow",
    reference,
    cases={
        "int32": ({"X": ints(5, 7, low=-9, high=9, dtype="int32")}, {"factor": 3.0}),
        "int64": ({"X": ints(5, 7, low=-9, high=9)}, {"factor": 4.0}),
        "square": ({"X": ints(5, 7, low=-9, high=9)}, {"factor": 2.0}),
        "a fraction is cut off": ({"X": ints(5, 7, low=-9, high=9)}, {"factor": 3.75}),
    },
)

SPECIAL = [0.0, -0.0, 1.0, -1.0, -8.0, np.inf, -np.inf, np.nan]
test_special_values = op_tests(
    "pow",
    reference,
    cases={str(factor): ({"X": np.resize(SPECIAL, 37)}, {"factor": factor}) for factor in (-2.0, -0.75, 0.0, 0.75, 2.0, 3.0)},
)


def test_whole_numbers_to_any_factor():
    for dtype in ("int32", "int64"):
        for factor in (-1.0, -2.0, 1e30, -1e30, float("nan"), float("inf")):
            found = run_op("pow", {"X": np.array([1, 0, -5], dtype)}, {"factor": factor})["Out"]
            assert found[0] == 1 and (factor < 0) <= (found[1:] == 0).all()
        np.testing.assert_array_equal(run_op("pow", {"X": np.array([-1], dtype)}, {"factor": -3.0})["Out"], [-1])
