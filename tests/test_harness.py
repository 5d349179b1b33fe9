# The harness itself: it must notice what is wrong.
import numpy as np
import pytest

import harness
import paddle_mini as pm
from harness import Rows, array, ints, run_op

RELU = lambda inputs, attrs: {"Out": np.maximum(inputs["X"], 0)}


def ask_all(test):
    (mark,) = test.pytestmark
    for question in mark.args[1]:
        question.values[0]()
    return [question.id for question in mark.args[1]]


def test_every_case_is_asked_for_every_float_type_and_for_gradients():
    test = harness.op_tests(
        "relu",
        RELU,
        {"matrix": ({"X": array(2, 3)}, {})},
        gradients=["X"],
        refusals={"integers": ({"X": ints(2)}, {}, pm.Error, "int64")},
    )
    assert ask_all(test) == ["matrix-float32", "matrix-float64", "matrix-edges", "matrix-gradient", "refuses integers"]


@pytest.mark.parametrize(
    "reference, words",
    [
        (lambda inputs, attrs: {"Out": inputs["X"]}, "Out"),
        (lambda inputs, attrs: {"Out": np.maximum(inputs["X"], 0)[0]}, "shape"),
        (lambda inputs, attrs: {"Out": np.maximum(inputs["X"], 0).astype("int64")}, "int64"),
        (lambda inputs, attrs: {"Out": [np.maximum(inputs["X"], 0)]}, "1 values expected"),
    ],
)
def test_a_wrong_value_is_noticed(reference, words):
    with pytest.raises(AssertionError, match=words):
        ask_all(harness.op_tests("relu", reference, {"matrix": ({"X": array(2, 3)}, {})}))


def test_a_wrong_gradient_is_noticed():
    # At the kink the record says 0 and the central difference ½.
    with pytest.raises(AssertionError, match="numerically"):
        ask_all(harness.op_tests("relu", RELU, {"kink": ({"X": np.zeros(3)}, {})}, gradients=["X"]))


def test_a_refusal_that_does_not_come_is_noticed():
    with pytest.raises(pytest.fail.Exception):
        ask_all(harness.op_tests("relu", RELU, {}, refusals={"none": ({"X": array(2)}, {}, pm.ShapeError, "")}))


def test_inputs_are_the_same_every_time_and_differ_by_shape_and_seed():
    np.testing.assert_array_equal(array(3, 4), array(3, 4))
    assert (array(3, 4, seed=1) != array(3, 4)).all() and (array(4)[:3] != array(3)).all()
    assert ints(50, low=2, high=4).min() == 2 and ints(50, low=2, high=4).max() == 3


def test_run_op_takes_lists_and_rows():
    found = run_op("sum", {"X": [np.ones(2, "float32"), np.full(2, 2, "float32")]})["Out"]
    np.testing.assert_array_equal(found, [3, 3])
    rows = Rows([2, 0], np.ones((2, 1), "float32"), 3)
    np.testing.assert_array_equal(run_op("scale", {"X": rows}, {"scale": 2.0})["Out"].dense(), [[2], [0], [2]])
