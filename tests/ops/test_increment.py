"""increment: Out = X + step, of one element."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x = inputs["X"]
    return {"Out": x + (attrs["step"] if x.dtype.kind == "f" else int(attrs["step"]))}


test_increment = op_tests(
    "increment",
    reference,
    cases={
        "one": ({"X": array(1)}, {}),
        "without dimensions": ({"X": array()}, {"step": -2.5}),
        "int32": ({"X": ints(1, dtype="int32")}, {"step": 3.0}),
        "int64": ({"X": np.array([1 << 40])}, {"step": 2.0}),
    },
    refusals={
        "two": ({"X": array(2)}, {}, pm.ShapeError, "X [2] one element"),
        "a large number": ({"X": ints(1, dtype="int32")}, {"step": 3e9}, pm.ProgramError, "value int32"),
        "nothing": ({"X": array(0)}, {}, pm.ShapeError, "X [0] one element"),
    },
)


def test_going_back_it_counts_down():
    """The gradient is the operator itself, from Out to X, with the step negated."""
    (op,) = pm._core.gradient(
        {"type": "increment", "inputs": [("X", ["i"])], "outputs": [("Out", ["j"])], "attrs": [("step", 1, 2.0)]}
    )
    assert (op["type"], dict(op["inputs"]), dict(op["outputs"])) == ("increment", {"X": ["j"]}, {"Out": ["i"]})
    assert {name: value for name, _, value in op["attrs"]} == {"step": -2.0}
