"""cast: Out = X as another element type."""
import numpy as np
import pytest
import paddle_mini as pm
from harness import Rows, array, ints, op_tests, run_op

TYPES = {"bool": 0, "int16": 1, "int32": 2, "int64": 3, "float32": 5, "float64": 6, "uint8": 20, "int8": 21}
NAMES = {number: name for name, number in TYPES.items()}


def reference(inputs, attrs):
    return {"Out": inputs["X"].astype(NAMES[attrs["out_dtype"]])}


def attrs(source, target):
    return {"in_dtype": TYPES[source], "out_dtype": TYPES[target]}


test_cast = op_tests(
    "cast",
    reference,
    cases={
        "from float": ({"X": array(3, 4, low=-9, high=9)}, attrs("float64", "int64")),
        "to bool": ({"X": np.array([0.0, -0.0, 0.5, np.nan, np.inf])}, attrs("float64", "bool")),
        "to float": ({"X": ints(3, 4)}, attrs("int64", "float64")),
        "one element": ({"X": array()}, attrs("float64", "float64")),
        "no rows": ({"X": array(0, 4)}, attrs("float64", "int32")),
    },
    refusals={
        "no such type": ({"X": array(3)}, {"in_dtype": 5, "out_dtype": 7}, pm.ProgramError, "out_dtype 7"),
        "float16": ({"X": array(3)}, {"in_dtype": 5, "out_dtype": 4}, pm.ShapeError, "float16"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, attrs("float64", "float32"), pm.ShapeError,
                          "X selected rows"),
    },
)

test_gradient = op_tests("cast", reference, cases={"same type": ({"X": array(3, 4)}, attrs("float64", "float64"))},
                         gradients=["X"])


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("target", TYPES)
def test_each_pair(source, target):
    x = np.array([0, 1, 2, 100, 3]).astype(source)
    out = run_op("cast", {"X": x}, attrs(source, target))["Out"]
    assert out.dtype == target
    np.testing.assert_array_equal(out, x.astype(target))


def test_the_gradient_is_cast_back():
    op, = pm._core.gradient({"type": "cast", "inputs": [("X", ["x"])], "outputs": [("Out", ["y"])],
                             "attrs": [("in_dtype", 0, 5), ("out_dtype", 0, 6)]})
    assert (op["type"], dict(op["inputs"]), dict(op["outputs"])) == ("cast", {"X": ["y@GRAD"]}, {"Out": ["x@GRAD"]})
    assert {name: value for name, _, value in op["attrs"]} == {"in_dtype": 6, "out_dtype": 5}
