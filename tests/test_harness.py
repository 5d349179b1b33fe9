# Tests of the harness itself: it must detect errors.
import pathlib

import numpy as np
import pytest

import facts
import harness
import paddle_mini as pm
from families import unary
from harness import Rows, array, ints, run_op
from paddle_mini.gradient_formulas import FORMULAS
from paddle_mini.testing import numeric_gradients
from paddle_mini.testing.numeric_gradients import ask_gradients, ask_second_gradients

RELU = lambda inputs, attrs: {"Out": np.maximum(inputs["X"], 0)}


def questions_of(test):
    (mark,) = test.pytestmark
    return [question for case in mark.args[1] for question in case.values[0]]


def ask_all(test):
    for question in questions_of(test):
        question()
    return [f"{question.name}: {question.about}" for question in questions_of(test)]


def test_every_case_is_asked_for_every_float_type_and_for_gradients():
    test = harness.op_tests(
        "relu",
        RELU,
        {"matrix": ({"X": array(2, 3)}, {})},
        gradients=["X"],
        refusals={"integers": ({"X": ints(2)}, {}, pm.Error, "int64")},
    )
    asked = ["float32 values", "float64 values", "edges", "gradients", "second gradients"]
    assert ask_all(test) == [*(f"matrix: {about}" for about in asked), "integers: refusal"]
    assert [case.id for case in test.pytestmark[0].args[1]] == ["matrix", "refuses integers"]


def test_a_wrong_second_gradient_is_noticed(monkeypatch):
    inputs = {"X": array(2, 3)}
    monkeypatch.setitem(FORMULAS, "softmax_grad", lambda f: {"X@GRAD": f["Out"] * f["Out@GRAD"]})
    with pytest.raises(AssertionError, match="the second gradient of X_0"):
        ask_second_gradients("softmax", inputs, {}, {"Out": 1}, ["X"], None)


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
    # At the kink the schema's gradient is 0 and the central difference ½.
    with pytest.raises(AssertionError, match="numerically"):
        ask_all(harness.op_tests("relu", RELU, {"kink": ({"X": np.zeros(3)}, {})}, gradients=["X"]))


@pytest.mark.parametrize("place", [0, 500, 1002])
@pytest.mark.parametrize("relative_error", [4e-6, 0.5])
def test_one_wrong_element_of_a_gradient_is_noticed_and_named(monkeypatch, place, relative_error):
    right = numeric_gradients.analytic_gradients

    def wrong(*arguments):
        gradients = right(*arguments)
        gradients["X_0"][place] *= 1 + relative_error
        return gradients

    monkeypatch.setattr(numeric_gradients, "analytic_gradients", wrong)
    with pytest.raises(AssertionError, match=rf"X_0@GRAD\[{place}\]"):
        ask_gradients("exp", {"X": array(1003, low=4, high=5)}, {}, {"Out": 1}, ["X"], None)


def test_a_refusal_that_does_not_come_is_noticed():
    with pytest.raises(pytest.fail.Exception):
        ask_all(harness.op_tests("relu", RELU, {}, refusals={"none": ({"X": array(2)}, {}, pm.ShapeError, "")}))


WRONG = {"a wrong case": ({"X": np.ones(3)}, {})}


def places(test):
    return [question.said() for question in questions_of(test)]


def test_a_failure_says_which_case_and_where_it_was_written():
    wrong = lambda inputs, attrs: {"Out": inputs["X"] + 1}
    test = harness.op_tests("relu", wrong, {**WRONG, f"case {1}": ({"X": np.ones(3)}, {})})
    here, line = __file__, line_of("**WRONG")
    first = f'float32 values of the case "a wrong case" of relu: {here}:{line_of("a wrong case")}, asked by {here}:{line}'
    assert places(test)[0] == first
    assert places(test)[-1] == f'edges of the case "case 1" of relu: {here}:{line}, asked by {here}:{line}'
    with pytest.raises(AssertionError) as caught:
        ask_all(test)
    assert not hasattr(caught.value, "add_note") or caught.value.__notes__ == places(test)[:1]  # notes: Python 3.11


def line_of(words, file=__file__):
    return next(i for i, line in enumerate(pathlib.Path(file).read_text().splitlines(), 1) if words in line)


def test_a_case_of_a_family_was_written_there():
    said = places(unary.unary_tests("relu", np.abs, domain=(0, 1)))
    asked = f"asked by {__file__}:{line_of('unary.unary_tests(')}"
    for name in ("matrix", "special values", "selected rows"):
        written = f"{unary.__file__}:{line_of(f'{chr(34)}{name}{chr(34)}:', unary.__file__)}"
        assert any(one.endswith(f'the case "{name}" of relu: {written}, {asked}') for one in said)


def test_two_cases_of_one_name_are_refused():
    with pytest.raises(AssertionError, match="matrix"):
        harness.op_tests("relu", RELU, {"matrix": ({"X": array(2, 3)}, {})}, values_only={"matrix": ({"X": array(3)}, {})})


def test_values_only_asks_no_gradient():
    test = harness.op_tests("relu", RELU, {}, gradients=["X"], values_only={"kink": ({"X": np.zeros(3)}, {})})
    assert ask_all(test) == ["kink: float32 values", "kink: float64 values", "kink: edges"]


def test_inputs_are_the_same_every_time_and_differ_by_shape_and_seed():
    np.testing.assert_array_equal(array(3, 4), array(3, 4))
    assert (array(3, 4, seed=1) != array(3, 4)).all() and (array(4)[:3] != array(3)).all()
    assert ints(50, low=2, high=4).min() == 2 and ints(50, low=2, high=4).max() == 3


def test_run_op_takes_lists_and_rows():
    found = run_op("sum", {"X": [np.ones(2, "float32"), np.full(2, 2, "float32")]})["Out"]
    np.testing.assert_array_equal(found, [3, 3])
    rows = Rows([2, 0], np.ones((2, 1), "float32"), 3)
    np.testing.assert_array_equal(run_op("scale", {"X": rows}, {"scale": 2.0})["Out"].dense(), [[2], [0], [2]])


def test_facts_are_those_of_the_operators_tests_alone():
    harness.op_tests("relu", lambda inputs, attrs: {"Out": inputs["X"]}, {"wrong": ({"X": array(3)}, {})})
    assert ["wrong"] not in [list(stated.cases) for stated in facts.facts_of_ops()["relu"]]
