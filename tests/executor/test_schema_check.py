"""A schema is rejected if it is incomplete, contradicts itself, or names missing ports, in any order of its calls."""

import pytest

import paddle_mini as pm
from paddle_mini import _core

# A schema as its calls: an operator with one input, one output and a gradient.
CALLS = {
    "doc": ["out = in"],
    "input": ["X", "any shape"],
    "output": ["Out", "shape of X"],
    "infer": [],
    "kernel": [],
    "gradient": ["relu_grad", "Out", "Out@GRAD", "->X@GRAD"],
}


def refusal(*more, **changed):
    """The error for the schema with these calls, added first and last; a call that is None is left out."""
    calls = [(call, words) for call, words in {**CALLS, **changed}.items() if words is not None]
    said = set()
    for order in ([*more, *calls], [*calls, *more]):
        with pytest.raises(pm.ProgramError) as caught:
            _core.try_schema("mended", order)
        said.add(str(caught.value))
    assert len(said) == 1, said
    return said.pop()


def test_a_complete_schema_is_accepted_in_any_order():
    more = [
        ("in_place", ["X", "Out"]),
        ("view", ["X", "Out"]),
        ("updates", ["X", "Out"]),
        ("accepts_selected_rows", ["X"]),
        ("shape_only", ["X"]),
        ("dtype_from_output", ["Out"]),
        ("checks_data", ["X"]),
        ("on_gpu", []),
    ]
    for calls in ([*CALLS.items(), *more], [*more, *CALLS.items()], [*reversed(CALLS.items()), *more]):
        assert _core.try_schema("mended", calls) == ["X"]
    assert _core.try_schema("mended", [*CALLS.items(), ("shape_input", ["Y", "any shape"])]) == ["Y"]


@pytest.mark.parametrize(
    "call, words, said",
    [
        ("in_place", ["Typo", "Out"], "in_place names an input 'Typo'"),
        ("in_place", ["X", "Typo"], "in_place names an output 'Typo'"),
        ("in_place", ["Out", "X"], "in_place names an input 'Out'"),
        ("view", ["Typo", "Out"], "view names an input 'Typo'"),
        ("view", ["X", "X"], "view names an output 'X'"),
        ("updates", ["Typo", "Out"], "updates names an input 'Typo'"),
        ("updates", ["X", "Typo"], "updates names an output 'Typo'"),
        ("accepts_selected_rows", ["Typo"], "accepts_selected_rows names an input 'Typo'"),
        ("accepts_selected_rows", ["Out"], "accepts_selected_rows names an input 'Out'"),
        ("shape_only", ["Typo"], "shape_only names an input 'Typo'"),
        ("shape_only", ["Out"], "shape_only names an input 'Out'"),
        ("checks_data", ["Typo"], "checks_data names an input 'Typo'"),
        ("dtype_from_input", ["Typo"], "dtype_from_input names an input 'Typo'"),
        ("dtype_from_input", ["Out"], "dtype_from_input names an input 'Out'"),
        ("dtype_from_output", ["Typo"], "dtype_from_output names an output 'Typo'"),
        ("dtype_from_output", ["X"], "dtype_from_output names an output 'X'"),
        ("no_gradient", ["because"], "gradient and no_gradient are both given"),
        ("input", ["X", "again"], "input 'X' occurs twice"),
        ("output", ["Out", "again"], "output 'Out' occurs twice"),
    ],
)
def test_what_is_named_must_be_there(call, words, said):
    assert said in refusal((call, words)) and "schema of 'mended'" in refusal((call, words))


@pytest.mark.parametrize("missing", ["doc", "infer", "kernel", "gradient"])
def test_what_is_missing_is_named(missing):
    assert missing in refusal(**{missing: None})


def test_what_says_nothing_is_refused():
    assert "the dtype is that of 'X' by default" in refusal(("dtype_from_input", ["X"]), input=["X", "any shape"])
    assert "the dtype is that of 'Out' by default" in refusal(
        ("dtype_from_output", ["Out"]), input=None, gradient=None, no_gradient=["because"]
    )


def test_contradictions_are_refused():
    with pytest.raises(pm.ProgramError, match="on_gpu"):
        _core.try_schema("mended", [*CALLS.items(), ("on_gpu", []), ("cpu_only", ["because"])])
    with pytest.raises(pm.ProgramError, match="attribute 'scale' occurs twice"):
        _core.try_schema("mended", [*CALLS.items(), ("attr", ["scale", "a number"]), ("attr", ["scale", "a number"])])
    with pytest.raises(pm.ProgramError, match="defined twice"):
        _core.try_schema("relu", list(CALLS.items()))


@pytest.mark.parametrize(
    "gradient, said",
    [
        (["relu_gard", "Out", "Out@GRAD", "->X@GRAD"], "its gradient 'relu_gard' is not defined"),
        (["relu_grad", "Typo", "Out@GRAD", "->X@GRAD"], "gradient names an output 'Typo'"),
        (["relu_grad", "Out", "Typo@GRAD", "->X@GRAD"], "gradient names an output 'Typo'"),
        (["relu_grad", "Out", "Out@GRAD", "->Typo@GRAD"], "gradient names an input 'Typo'"),
        (["relu_grad", "Out", "Out@GRAD", "->Out@GRAD"], "gradient names an input 'Out'"),
        (["relu_grad", "Out", "Out@GRAD", "->X"], "gradient outputs 'X', which is not a gradient"),
        (["relu_grad", "X", "Out", "Out@GRAD", "->X@GRAD"], "schema of 'relu_grad': there is no input 'X'"),
        (["relu_grad", "Out@GRAD", "->X@GRAD"], "schema of 'relu_grad': input Out is missing"),
        (["tanh_shrink_grad", "Out", "Out@GRAD", "->X@GRAD"], "schema of 'tanh_shrink_grad'"),
    ],
)
def test_the_gradients_ports_are_those_of_its_record(gradient, said):
    assert said in refusal(gradient=gradient)
