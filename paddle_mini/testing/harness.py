# The test harness of operators, which asks the same questions about each; an operator's test states facts only.
#
#     test_relu = op_tests("relu", reference, cases={"matrix": ({"X": array(3, 4)}, {})}, gradients=["X"])
#
# Each case is a test. It is run for each float type that the schema has kernels for, and its outputs are compared with
# `reference(inputs, attrs)` in float64, with `infer`, with the program after a round trip through bytes,
# and with a run on temporaries, where kernels may write over their inputs. Gradients are compared with
# numeric ones in float64. `families` has the cases of similar operators.
from __future__ import annotations

import functools
import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType, MappingProxyType
from typing import Any

import pytest

import paddle_mini as pm

from ..callsite import INSTALLED
from ..schemas import defaults, op_schema
from .edges import ask_edges, ask_negative_axes
from .numeric_gradients import ask_gradients, ask_second_gradients
from .one_op import COMPLEX_OF, OneOp, Rows, array_of, cast, each
from .value_checks import check_infer, check_same, check_value

# One table of tolerances for all operators: |value - reference| <= tolerance * (1 + |reference|).
TOLERANCES = {"cpu": {"float16": 2e-3, "float32": 2e-6, "float64": 1e-12}}

Reference = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
Case = tuple[dict[str, Any], dict[str, Any]]
Cases = dict[str, Case]


@dataclass(frozen=True)
class Facts:
    """The facts of a test about an operator: the arguments of `op_tests`, and the calls (file, line) that led to it."""

    op_type: str
    reference: Reference
    cases: Cases
    gradients: Sequence[str] = ()
    refusals: Mapping[str, Any] = field(default_factory=dict)
    unchecked: Sequence[str] = ()
    gradient_of: Sequence[str] | None = None
    tolerance: dict[str, float] = field(default_factory=dict)
    open_shapes: bool = False
    float64: Sequence[str] = ()
    calls: Sequence[tuple[str, int]] = ()

    def expected(self, inputs: dict[str, Any], attrs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
        """The reference's results for the inputs in float64, and the number of variables of each output."""
        expected = self.reference(each(inputs, lambda item: cast(item, "float64")), {**defaults(self.op_type), **attrs})
        counts = {port: len(value) if isinstance(value, list) else 1 for port, value in expected.items()}
        return expected, {**dict.fromkeys(self.unchecked, 1), **counts}

    def typed(self, inputs: dict[str, Any], dtype: str | None) -> dict[str, Any]:
        """The inputs in a float type, except those that are always float64."""
        return {**each(inputs, lambda item: cast(item, dtype)), **{port: inputs[port] for port in self.float64 if port in inputs}}


# The facts of the tests by operator: other suites run the same cases.
FACTS: dict[str, list[Facts]] = {}


@dataclass(frozen=True)
class Question:
    """A question about a case, and the function that asks it."""

    facts: Facts
    name: str
    about: str
    ask: Callable[[], None] = field(repr=False)

    def __call__(self) -> None:
        try:
            self.ask()
        except BaseException as error:
            if hasattr(error, "add_note"):  # Python 3.11
                error.add_note(self.said())
            raise

    def __repr__(self) -> str:
        return f"<{self.about} of {self.name!r} of {self.facts.op_type}>"

    def said(self) -> str:
        """The location where the case was written, the question, and the test that failed."""
        test = "{}:{}".format(*self.facts.calls[-1])
        places = [f"{file}:{line}" for file, call in self.facts.calls for line in _lines_of(self.name, file, call)]
        case = f'the case "{self.name}" of {self.facts.op_type}'
        return f"{self.about} of {case}: {places[0] if places else test}, asked by {test}"


def op_tests(
    op_type: str,
    reference: Reference,
    cases: Cases,
    gradients: Sequence[str] = (),
    refusals: Mapping[str, Any] = MappingProxyType({}),
    values_only: Mapping[str, Case] = MappingProxyType({}),
    unchecked: Sequence[str] = (),
    gradient_of: Sequence[str] | None = None,
    tolerance: Mapping[str, float] = MappingProxyType({}),
    open_shapes: bool = False,
    float64: Sequence[str] = (),
) -> Callable[..., None]:
    """One pytest function that asks every question about an operator: a test for each case, and for each refusal.

    cases: {name: (inputs, attrs)}. reference: (float64 inputs, all attrs) -> {port: value}; if it
    returns float64 the output must have the tested float type, else the reference's type.
    gradients: inputs with a gradient; gradient_of: outputs it flows from (None: those that the
    gradient operator reads). values_only: more cases, without gradients (kinks, infinities, integers).
    refusals: {name: (inputs, attrs, error class, words in the message)}.
    unchecked: outputs that the reference does not return. Output ports that share a variable
    with an input are known from the schema. tolerance: {dtype: wider tolerance}. open_shapes: shapes
    depend on data, so that `infer` may leave dimensions open before a run; this is implied if an input
    is a LoDTensor. A reference returns a LoDTensor if the output must have sequences. float64: ports that
    are float64 for every tested type.
    """
    assert not cases.keys() & values_only.keys(), f"two cases of one name: {sorted(cases.keys() & values_only.keys())}"
    facts = Facts(
        op_type,
        reference,
        {**cases, **values_only},
        gradients,
        refusals,
        unchecked,
        gradient_of,
        {**TOLERANCES["cpu"], **tolerance},
        open_shapes,
        float64,
        _calls(),
    )
    if not float64:  # PaddlePaddle has no such operator
        FACTS.setdefault(op_type, []).append(facts)
    tests = {name: _questions(facts, name, with_gradient=name in cases) for name in facts.cases}
    for name, refusal in refusals.items():
        ask = functools.partial(_ask_refusal, op_type, *refusal)
        tests[f"refuses {name}"] = [Question(facts, name, "refusal", ask)]

    @pytest.mark.parametrize("questions", [pytest.param(questions, id=name) for name, questions in tests.items()])
    def test(questions: list[Question]) -> None:
        for question in questions:
            question()

    return test


def _questions(facts: Facts, name: str, with_gradient: bool) -> list[Question]:
    inputs, attrs = facts.cases[name]
    questions = [
        Question(
            facts, name, f"{dtype} values" if dtype else "values", functools.partial(ask_values, facts, inputs, attrs, dtype)
        )
        for dtype in dtypes_to_test(facts.op_type, inputs)
    ]
    if not any(isinstance(value, (Rows, pm.LoDTensor)) for value in _items(inputs)):
        questions.append(Question(facts, name, "edges", lambda: _ask_edges(facts, inputs, attrs)))
    if facts.gradients and with_gradient and not any(isinstance(value, Rows) for value in inputs.values()):
        questions.append(Question(facts, name, "gradients", lambda: _ask_gradients(facts, inputs, attrs)))
        questions.append(
            Question(facts, name, "second gradients", lambda: _ask_gradients(facts, inputs, attrs, ask_second_gradients))
        )
    return questions


def ask_values(facts: Facts, inputs: Any, attrs: Any, dtype: str | None) -> None:
    """Checks values, dtypes, shapes and sequences, in every way that a program may run the operator."""
    op_type, inputs = facts.op_type, facts.typed(inputs, dtype)
    expected, counts = facts.expected(inputs, attrs)
    one = OneOp(op_type, inputs, attrs, counts, aliased=False)
    found = one.run()
    one.check_inputs_unchanged()
    check_infer(one, found, facts.open_shapes or any(isinstance(value, pm.LoDTensor) for value in one.values.values()))
    for port, value in expected.items():
        wanted = None if port in facts.float64 else _output_dtype(attrs, dtype)
        check_value(port, found[port], value, wanted, facts.tolerance)
    again = pm.Program.from_bytes(one.program.to_bytes())
    assert again.to_bytes() == one.program.to_bytes(), "bytes change in a round trip"
    check_same(expected, found, one.run(again), "the program read from bytes")
    check_same(
        expected, found, OneOp(op_type, inputs, attrs, counts, aliased=False, temporaries=True).run(), "a run on temporaries"
    )
    if one.schema["updates"]:
        check_same(expected, found, OneOp(op_type, inputs, attrs, counts).run(), "outputs in their inputs' variables")


def _ask_edges(facts: Facts, inputs: Any, attrs: Any) -> None:
    inputs = facts.typed(inputs, dtypes_to_test(facts.op_type, inputs)[0])
    counts = facts.expected(inputs, attrs)[1]
    ask_edges(facts.op_type, inputs, attrs, counts)
    ask_negative_axes(facts.op_type, inputs, attrs, counts)


def _ask_gradients(facts: Facts, inputs: Any, attrs: Any, ask: Callable[..., None] = ask_gradients) -> None:
    inputs = each(inputs, lambda item: cast(item, "float64"))
    ask(facts.op_type, inputs, attrs, facts.expected(inputs, attrs)[1], facts.gradients, facts.gradient_of)


def _ask_refusal(op_type: str, inputs: Any, attrs: Any, error: Any, words: str) -> None:
    dtypes = [dtype for dtype in op_schema(op_type)["dtypes"] if dtype.startswith("float")]
    if dtypes and "float64" not in dtypes:
        inputs = each(inputs, lambda item: cast(item, dtypes[0]))
    one = None
    with pytest.raises(error) as caught:
        one = OneOp(op_type, inputs, attrs)
        one.run()
    missing = [word for word in words.split() if word not in str(caught.value)]
    assert not missing, f"{missing} not in the message: {caught.value}"
    if one is not None:
        one.written = set()  # an operator that rejects has written nothing
        one.check_inputs_unchanged()


def dtypes_to_test(op_type: str, inputs: Any) -> list[str | None]:
    """The float types with kernels; [None] for inputs without floats, which are run as they are."""
    arrays = [array_of(item) for item in _items(inputs)]
    if not any(item.dtype.kind in "fc" for item in arrays):
        return [None]
    kernels = op_schema(op_type)["dtypes"]
    of_complex = all(item.dtype.kind != "f" for item in arrays)
    floats = [dtype for dtype in ("float32", "float64") if (COMPLEX_OF[dtype] if of_complex else dtype) in kernels or not kernels]
    return list(floats) or ["float32"]


def _output_dtype(attrs: Any, dtype: str | None) -> str | None:
    """The tested dtype, unless an attribute names the dtype of outputs."""
    named = [attrs[name] for name in ("dtype", "out_dtype") if name in attrs]
    return None if any(value not in (-1, None) for value in named) else dtype


def _items(inputs: Any) -> list[Any]:
    return [item for value in inputs.values() for item in (value if isinstance(value, list) else [value])]


def _calls() -> list[tuple[str, int]]:
    """(file, line) of the calls that led to op_tests: of families, if any, then of the test."""
    frame: FrameType | None = sys._getframe(2)
    calls: list[tuple[str, int]] = []
    while frame is not None and (not calls or not INSTALLED.match(frame.f_code.co_filename)):
        calls.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back if frame.f_code.co_name != "<module>" else None
    return calls


def _lines_of(name: str, file: str, call: int) -> list[int]:
    """The file's case of this name: inside the call first, then above it, the nearest first, then below it."""
    lines = pathlib.Path(file).read_text().splitlines()
    depth = lambda i: len(lines[i]) - len(lines[i].lstrip())
    end = next((i for i in range(call, len(lines)) if lines[i] and depth(i) <= depth(call - 1)), len(lines))
    order = [*range(call - 1, end), *reversed(range(call - 1)), *range(end, len(lines))]
    return [i + 1 for i in order if f'"{name}":' in lines[i]]
