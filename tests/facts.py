# The facts of tests/ops and tensor_attrs, for tests that ask other questions about the same cases and about their
# gradients.
from __future__ import annotations

import importlib.util
import pathlib
from collections.abc import Container, Iterator
from dataclasses import replace
from functools import cache
from typing import Any
from unittest import mock

import numpy as np

from harness import FACTS, Facts, Reference, dtypes_to_test
from paddle_mini import _core
from paddle_mini.schemas import defaults, op_schema
from paddle_mini.testing.one_op import OneOp, Rows, array, array_of, cast, each
from tensor_attrs import CASES

Case = tuple[str, dict[str, Any], dict[str, Any], dict[str, int]]  # type, inputs, attrs, {output: number of variables}

# Its shapes must be known, so the harness can't test it.
GATHER_ND: Case = ("gather_nd", {"X": array(5, 4), "Index": np.array([[3, 1], [0, 0]])}, {}, {"Out": 1})


@cache
def all_facts() -> dict[str, list[Facts]]:
    """The stated facts of each operator."""
    facts = {op_type: list(stated) for op_type, stated in facts_of_ops().items()}
    for name, (op_type, inputs, attrs, tensors, left, _) in CASES.items():
        first = facts[op_type][0]
        facts[op_type].append(
            replace(
                first,
                cases={name: ({**inputs, **tensors}, left)},
                reference=_by_attributes(op_type, first.reference, attrs, tensors),
            )
        )
    return facts


def _by_attributes(op_type: str, reference: Reference, attrs: dict[str, Any], tensors: dict[str, Any]) -> Reference:
    """The reference, which receives these attributes instead of the tensors."""
    said = {**defaults(op_type), **attrs}
    return lambda inputs, _: reference({port: value for port, value in inputs.items() if port not in tensors}, said)


@cache
def facts_of_ops() -> dict[str, list[Facts]]:
    """The facts of the files of tests/ops, without those of other tests in this process."""
    with mock.patch.dict(FACTS, clear=True):
        for path in sorted((pathlib.Path(__file__).resolve().parent / "ops").glob("test_*.py")):
            spec = importlib.util.spec_from_file_location(f"facts_of_{path.stem}", path)
            assert spec is not None and spec.loader is not None
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
        return dict(FACTS)


@cache
def cases_of(op_type: str) -> list[tuple[str, dict[str, Any], dict[str, Any], dict[str, int], list[str]]]:
    """(name, inputs, attrs, {output: number of variables}, outputs that the reference gives). Floats have the first
    type that the harness tests."""
    cases = []
    for facts in all_facts()[op_type]:
        for name, (inputs, attrs) in facts.cases.items():
            dtype = dtypes_to_test(op_type, inputs)[0]
            inputs = each(inputs, lambda item, dtype=dtype: cast(item, dtype))
            counts = facts.expected(inputs, attrs)[1]
            cases.append((name, inputs, attrs, counts, [port for port in counts if port not in facts.unchecked]))
    return cases


def all_cases() -> list[Case]:
    return [(op_type, *case[1:4]) for op_type in sorted(all_facts()) for case in cases_of(op_type)] + [GATHER_ND]


def gradient_cases(
    op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], counts: dict[str, int], types: Container[str] | None = None
) -> Iterator[Case]:
    """The operators of the gradient, those of these types, with values of a run; the gradients that flow in are the
    operator's outputs."""
    if op_schema(op_type)["no_gradient"] is not None:
        return
    one = OneOp(op_type, inputs, attrs, counts, aliased=False)
    ops = [op for op in _core.gradient(one.op.describe()) if types is None or op["type"] in types]
    found, values = one.run() if ops else {}, dict(one.values)
    for port in found:
        for name, value in zip(one.outputs[port], listed(found[port])):
            values[name] = values[name + "@GRAD"] = value
    for op in ops:
        given = [values[name] for _, names in op["inputs"] for name in names if name.endswith("@GRAD")]
        given += [values[name[:-5]] for _, names in op["outputs"] for name in names if name[:-5] in one.values]
        if any(isinstance(value, Rows) or array_of(value).dtype.kind != "f" for value in given):
            continue  # these have no gradients
        yield (
            op["type"],
            {port: [values[name] for name in names] for port, names in op["inputs"]},
            {name: value for name, _, value in op["attrs"]},
            {port: len(names) for port, names in op["outputs"]},
        )


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
