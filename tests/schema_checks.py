# Checks that compare the declarations of a schema with the behaviour of its operator.
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any
from unittest import mock

import numpy as np

import gpu_builds
import harness
import paddle_mini as pm
from facts import GATHER_ND, Case, all_facts, cases_of, gradient_cases, listed
from harness import dtypes_to_test
from paddle_mini.schemas import op_schema
from paddle_mini.testing.one_op import OneOp, Rows, array_of, with_array

BY_CHANCE = {"dpsgd", "dropout", "gaussian_random", "truncated_gaussian_random", "uniform_random"}  # other numbers in each run

# One element of a regular matrix, changed to another number, seldom makes it singular: tests/ops has their refusals.
SINGULAR = {
    "cholesky",
    "cholesky_solve",
    "cholesky_solve_grad",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inverse",
    "lstsq",
    "matrix_power",
    "matrix_power_grad",
    "matrix_rank",
    "solve",
    "solve_grad",
    "svd",
    "triangular_solve",
    "triangular_solve_grad",
}


def bits(outputs: dict[str, Any]) -> dict[str, Any]:
    """The values of each output: dtype, shape and bytes, rows, sequences. NaNs are alike: their signs depend on the order in
    which a compiler puts operands."""

    def one(value: Any) -> tuple[Any, ...]:
        numbers = array_of(value)
        if numbers.dtype.kind == "f":
            numbers = np.where(np.isnan(numbers), numbers.dtype.type(np.nan), numbers)
        more = list(value.rows) if isinstance(value, Rows) else value.lod if isinstance(value, pm.LoDTensor) else []
        return str(numbers.dtype), numbers.shape, numbers.tobytes(), more

    return {port: [one(value) for value in listed(values)] for port, values in outputs.items()}


def unlike(value: Any) -> Any:
    """A value of the same kind and shape, with other numbers everywhere."""
    numbers = array_of(value)
    return with_array(value, np.full_like(numbers, np.nan) if numbers.dtype.kind == "f" else ~numbers)


def spoiled(inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The inputs, with the last element of one of them replaced by a number that some operators reject."""
    for port, value in inputs.items():
        items = listed(value)
        for i, item in enumerate(items):
            numbers = array_of(item)
            large = min(1e30, float(np.finfo(numbers.dtype).max)) if numbers.dtype.kind == "f" else 0
            odd: Sequence[Any] = {"i": (-1, 0, 100), "f": (-1, large), "b": (False, True)}.get(numbers.dtype.kind, ())
            for number in odd if numbers.size else ():
                other = numbers.copy()
                other.reshape(-1)[-1] = number
                yield {**inputs, port: [*items[:i], with_array(item, other), *items[i + 1 :]]}


def check_memory(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], counts: dict[str, int]) -> None:
    """in_place, views, updates and inputs.shape_only."""
    schema = op_schema(op_type)
    one = OneOp(op_type, inputs, attrs, counts, aliased=False)
    found = one.run()
    expected = bits(found)
    given = {port: [array_of(value) for value in listed(values)] for port, values in inputs.items()}
    for source, port in schema["views"]:
        made = [array_of(value) for value in listed(found.get(port, []))]
        if [value.nbytes for value in made] == [value.nbytes for value in given.get(source, [])]:
            assert [value.tobytes() for value in made] == [value.tobytes() for value in given[source]], (
                f"{port} is not a view of {source}"
            )
    if op_type in BY_CHANCE:
        return
    if schema["in_place"] or schema["views"]:
        over = OneOp(op_type, inputs, attrs, counts, aliased=False, temporaries=True)
        assert bits(over.run()) == expected, "outputs over inputs"
    if any(source in inputs and port in counts for source, port in schema["updates"]):
        same = OneOp(op_type, inputs, attrs, counts)
        assert bits(same.run()) == expected, "outputs in their inputs' variables"
    for port in schema["inputs"]:
        if port["shape_only"] and port["name"] in inputs:
            changed = inputs[port["name"]]
            changed = [unlike(value) for value in changed] if isinstance(changed, list) else unlike(changed)
            other = OneOp(op_type, {**inputs, port["name"]: changed}, attrs, counts, aliased=False)
            assert bits(other.run()) == expected, f"{port['name']} is read"


def check_refusals(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], counts: dict[str, int]) -> None:
    """checks_data: writes before an operator that rejects its data are undone; checked_port: also if an operator before them
    has accepted the same input."""
    checked = op_schema(op_type)["checked_port"]
    for accepted in [False, True] if checked else [False]:
        one = OneOp(op_type, inputs, attrs, counts, aliased=False)
        one.put("steps", np.zeros(1, "float32"))
        one.block.prepend_op("increment", {"X": "steps"}, {"Out": "steps"}, {"step": 1.0})
        if accepted:
            accept_before(one, inputs, checked)
        for others in spoiled(inputs):
            for port, names in one.arguments.items():
                for name, value in zip(names, listed(others[port])):
                    one.put(name, value)
            before = one.scope.get("steps")
            try:
                one.executor.run(one.program, scope=one.scope)
            except pm.Error as error:
                assert one.scope.get("steps") == before, f"an error that the schema does not declare: {error}"


def accept_before(one: OneOp, inputs: dict[str, Any], checked: str) -> None:
    """Puts the operator before all others, with inputs of its own but for `checked`."""
    arguments = {port: [f"{name}_before" for name in names] for port, names in one.arguments.items()}
    for port, names in arguments.items():
        for name, value in zip(names, listed(inputs[port])):
            one.put(name, value)
    arguments[checked] = one.arguments[checked]
    outputs = {port: [f"{name}_before" for name in names] for port, names in one.outputs.items()}
    one.block.prepend_op(one.op.type, arguments, outputs, one.op.attrs)


def check_outputs(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], counts: dict[str, int]) -> None:
    """outputs.optional: without one the others have the same bits."""
    if op_type in BY_CHANCE or len(counts) < 2:
        return
    schema = op_schema(op_type)
    states = {port for source, port in schema["updates"] if source in inputs}  # are passed with their inputs or not at all
    optional = [port["name"] for port in schema["outputs"] if port["optional"] and port["name"] in {*counts} - states]
    whole = bits(OneOp(op_type, inputs, attrs, counts, aliased=False).run()) if optional else {}
    for port in optional:
        fewer = {name: count for name, count in counts.items() if name != port}
        found = bits(OneOp(op_type, inputs, attrs, fewer, aliased=False).run())
        assert found == {name: whole[name] for name in fewer}, f"without {port}"


@cache
def cases_and_gradients(op_type: str) -> list[Case]:
    """The cases that test the operator itself: its own, or for a gradient those of its operator."""
    own = op_type in all_facts() or not op_type.endswith("_grad")
    plain = op_type if own else op_type[: -len("_grad")]
    cases = [GATHER_ND] if plain == GATHER_ND[0] else [(plain, *case[1:4]) for case in cases_of(plain)]
    return cases if plain == op_type else [found for case in cases for found in gradient_cases(*case, types={op_type})]


def untested(op_types: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Features that schemas allow and no case has: (type, port, feature). A gradient's inputs are given as its
    operator's are."""
    for op_type in op_types:
        schema, cases = op_schema(op_type), cases_and_gradients(op_type)
        for port in schema["inputs"]:
            name = port["name"]
            given = [items for items in (listed(case[1].get(name, [])) for case in cases) if items]
            if name in schema["accepts_selected_rows"] and not any(isinstance(item, Rows) for items in given for item in items):
                yield op_type, name, "takes rows"
            if port["optional"] and (not given or (len(given) == len(cases) and not op_type.endswith("_grad"))):
                yield op_type, name, "is optional"
            if port["list"] and max(map(len, given), default=0) < 2:
                yield op_type, name, "is a list"
        for port in schema["outputs"]:
            if port["list"] and max((case[3].get(port["name"], 0) for case in cases), default=0) < 2:
                yield op_type, port["name"], "is a list"


# --- for one operator, with all its cases ---------------------------------------------------------------


def ask_values(op_type: str) -> None:
    """The harness's questions about values, dtypes, shapes and sequences."""
    for facts in all_facts()[op_type]:
        loose = replace(facts, tolerance={"float16": 1, "float32": 1, "float64": 1}, open_shapes=True)
        for inputs, attrs in facts.cases.values():
            for dtype in dtypes_to_test(op_type, inputs):
                harness.ask_values(loose, inputs, attrs, dtype)


def check_all_memory(op_type: str) -> None:
    with mock.patch.dict(os.environ, PM_PASSES=""):  # an operator that changes nothing stays
        for case in cases_and_gradients(op_type):
            check_memory(*case)


def check_all_refusals(op_type: str) -> None:
    for case in cases_and_gradients(op_type):
        check_refusals(*case)


def check_all_outputs(op_type: str) -> None:
    for case in cases_and_gradients(op_type):
        check_outputs(*case)


def check_tested(op_type: str) -> None:
    assert list(untested([op_type])) == []


def check_place(op_type: str) -> None:
    """on_gpu and cpu_only: a kernel for GPUs, or the reason for none."""
    schema = op_schema(op_type)
    assert not schema["has_kernels"] or schema["on_gpu"] != bool(schema["cpu_only"])


def check_on_gpu(op_type: str) -> None:
    """on_gpu: compiled for a GPU, the operator's cases run although the host can't dereference addresses of the device."""
    if op_schema(op_type)["on_gpu"]:
        cases = cases_and_gradients(op_type)
        tensors = [case for case in cases if not any(isinstance(item, Rows) for item in case[1].values())]
        gpu_builds.check_runs(op_type, tensors)


def stated() -> list[str]:
    """The facts of a schema, by the names of op_schema(); of ports "inputs.list" and its like."""
    schema = op_schema("adam")
    ports = [f"{side}.{fact}" for side in ("inputs", "outputs") for fact in schema[side][0]]
    return sorted([*(fact for fact in schema if fact not in ("inputs", "outputs")), *ports])
