# The questions that every operator is asked; an operator's test states facts only.
#
#     test_relu = op_tests("relu", reference, cases={"matrix": ({"X": array(3, 4)}, {})}, gradients=["X"])
#
# Each case is run for each float type that the record has kernels for, and its outputs are held
# against `reference(inputs, attrs)` in float64, against `infer`, against the program after a round
# trip through bytes, and against a run on temporaries, where kernels may write over their inputs.
# Gradients are held against numeric ones in float64.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import paddle_mini as pm
from edges import ask_edges, ask_negative_axes
from numeric_gradients import ask_gradients
from one_op import OneOp, Rows, array, array_of, generator, ints, run_op, with_array  # noqa: F401 (tests take them from here)
from paddle_mini import _core
from paddle_mini.contracts import contract, defaults

# One table: |value - reference| <= tolerance * (1 + |reference|).
TOLERANCES = {"cpu": {"float16": 2e-3, "float32": 2e-6, "float64": 1e-12}}

# What the tests state, by operator: tests/paddle asks PaddlePaddle about the same cases.
FACTS: dict[str, list[Any]] = {}

Reference = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]


def op_tests(
    op_type: str,
    reference: Reference,
    cases: dict[str, Any],
    gradients: Sequence[str] = (),
    refusals: dict[str, Any] = {},
    unchecked: Sequence[str] = (),
    gradient_of: Sequence[str] | None = None,
    aliases: Any = None,
    tolerance: dict[str, float] = {},
    open_shapes: bool = False,
    float64: Sequence[str] = (),
) -> Callable[..., None]:
    """One pytest function that asks every question about an operator.

    cases: {name: (inputs, attrs)}. reference: (float64 inputs, all attrs) -> {port: value}; where it
    gives float64 the output must have the tested float type, else the reference's type.
    gradients: inputs with a gradient; gradient_of: outputs it flows from (None: those that the
    gradient operator reads). refusals: {name: (inputs, attrs, error class, words in the message)}.
    unchecked: outputs that the reference does not give. aliases: output ports that share a variable
    with an input are known from the record. tolerance: {dtype: wider tolerance}. open_shapes: shapes
    depend on data, so that `infer` may leave dimensions open before a run; so they do where an input
    is a LoDTensor. A reference gives a LoDTensor where the output must have sequences. float64: ports that
    are float64 whatever type is tested.
    """
    questions, wide = [], {**TOLERANCES["cpu"], **tolerance}
    if not float64:  # PaddlePaddle has no such operator
        FACTS.setdefault(op_type, []).append((cases, reference, unchecked))
    for name, (inputs, attrs) in cases.items():
        for dtype in _dtypes_to_test(op_type, inputs):
            questions.append(
                pytest.param(
                    lambda i=inputs, a=attrs, d=dtype: _ask_values(
                        op_type, reference, i, a, d, unchecked, wide, open_shapes, float64
                    ),
                    id=f"{name}-{dtype or 'as is'}",
                )
            )
        if not any(isinstance(value, (Rows, pm.LoDTensor)) for value in _items(inputs)):
            questions.append(
                pytest.param(
                    lambda i=inputs, a=attrs: _ask_edges(op_type, reference, i, a, unchecked, float64), id=f"{name}-edges"
                )
            )
        if gradients and not any(isinstance(value, Rows) for value in inputs.values()):
            questions.append(
                pytest.param(
                    lambda i=inputs, a=attrs: _ask_gradients(op_type, i, a, gradients, gradient_of, unchecked, reference),
                    id=f"{name}-gradient",
                )
            )
    for name, (inputs, attrs, error, words) in refusals.items():
        questions.append(
            pytest.param(lambda i=inputs, a=attrs, e=error, w=words: _ask_refusal(op_type, i, a, e, w), id=f"refuses {name}")
        )

    @pytest.mark.parametrize("ask", questions)
    def test(ask: Callable[[], None]) -> None:
        ask()

    return test


def _ask_values(
    op_type: str,
    reference: Reference,
    inputs: Any,
    attrs: Any,
    dtype: str | None,
    unchecked: Sequence[str],
    tolerance: dict[str, float],
    open_shapes: bool,
    float64: Sequence[str],
) -> None:
    cast = _typed(inputs, dtype, float64)
    expected = reference(_each(cast, lambda item: _cast(item, "float64")), {**defaults(op_type), **attrs})
    counts = {port: len(value) if isinstance(value, list) else 1 for port, value in expected.items()}
    counts.update({port: counts.get(port, 1) for port in unchecked})
    one = OneOp(op_type, cast, attrs, counts, aliased=False)
    found = one.run()
    one.check_inputs_unchanged()
    _check_infer(one, found, open_shapes or any(isinstance(value, pm.LoDTensor) for value in one.values.values()))
    for port, value in expected.items():
        wanted = None if port in float64 else _output_dtype(attrs, dtype)
        _check_value(port, found[port], value, wanted, tolerance)
    again = pm.Program.from_bytes(one.program.to_bytes())
    assert again.to_bytes() == one.program.to_bytes(), "bytes change in a round trip"
    _check_same(expected, found, one.run(again), "the program read from bytes")
    _check_same(
        expected, found, OneOp(op_type, cast, attrs, counts, aliased=False, temporaries=True).run(), "a run on temporaries"
    )
    if one.record["updates"]:
        _check_same(expected, found, OneOp(op_type, cast, attrs, counts).run(), "outputs in their inputs' variables")


def _ask_edges(
    op_type: str, reference: Reference, inputs: Any, attrs: Any, unchecked: Sequence[str], float64: Sequence[str]
) -> None:
    dtype = _dtypes_to_test(op_type, inputs)[0]
    cast = _typed(inputs, dtype, float64)
    expected = reference(_each(cast, lambda item: _cast(item, "float64")), {**defaults(op_type), **attrs})
    counts = {port: len(value) if isinstance(value, list) else 1 for port, value in expected.items()}
    counts.update({port: counts.get(port, 1) for port in unchecked})
    ask_edges(op_type, cast, attrs, counts)
    ask_negative_axes(op_type, cast, attrs, counts)


def _items(inputs: Any) -> list[Any]:
    return [item for value in inputs.values() for item in (value if isinstance(value, list) else [value])]


def _check_infer(one: OneOp, found: dict[str, Any], open_shapes: bool) -> None:
    """`infer` must be right, and must not fall over dimensions that are not known."""

    def agree(inferred: Sequence[int], shape: Sequence[int]) -> bool:
        return len(inferred) == len(shape) and all(a in (-1, b) for a, b in zip(inferred, shape))

    infos = {name: one.block.var(name).info() for names in one.arguments.values() for name in names}
    unknown = {name: {**info, "shape": [-1] * len(info["shape"])} for name, info in infos.items()}
    _, open_infos = _core.check_op(one.op.describe(), unknown)
    for port, names in one.outputs.items():
        values = found[port] if isinstance(found[port], list) else [found[port]]
        for name, value in zip(names, values):
            var = one.block.var(name)
            rows = isinstance(value, Rows)
            numbers = array_of(value)
            shape, dtype = (value.height, *numbers.shape[1:]) if rows else numbers.shape, numbers.dtype
            right = agree(var.shape, shape) if open_shapes else var.shape == shape
            assert right and var.dtype == dtype, f"{port}: infer says {var}, the kernel made {dtype}{shape}"
            levels = len(value.lod) if isinstance(value, pm.LoDTensor) else 0
            assert var.lod_level == levels, f"{port}: infer says lod_level {var.lod_level}, the kernel made {levels}"
            inferred = open_infos[name]["shape"]
            right = agree(inferred, shape)
            assert right, f"{port}: infer of unknown dimensions says {inferred}, the kernel made {shape}"


def _check_value(port: str, found: Any, expected: Any, dtype: str | None, tolerance: dict[str, float]) -> None:
    if isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), f"{port}: {len(expected)} values expected"
        for i, (one, other) in enumerate(zip(found, expected)):
            _check_value(f"{port}[{i}]", one, other, dtype, tolerance)
        return
    if isinstance(expected, Rows):
        assert isinstance(found, Rows), f"{port} is no selected rows"
        assert (list(found.rows), found.height) == (list(expected.rows), expected.height), f"{port}: other rows"
        found, expected = found.values, expected.values
    lods = [value.lod if isinstance(value, pm.LoDTensor) else [] for value in (found, expected)]
    assert lods[0] == lods[1], f"{port} has lod {lods[0]}, not {lods[1]}"
    assert not isinstance(found, Rows), f"{port} is selected rows"
    found, expected = array_of(found), array_of(expected)
    wanted = dtype if dtype and expected.dtype == np.float64 else expected.dtype
    assert found.dtype == wanted, f"{port} is {found.dtype}, not {wanted}"
    assert found.shape == expected.shape, f"{port} has shape {found.shape}, not {expected.shape}"
    if found.dtype.kind == "f":
        limit = tolerance[found.dtype.name]
        np.testing.assert_allclose(found, expected, rtol=limit, atol=limit, err_msg=port)
    else:
        np.testing.assert_array_equal(found, expected, port)


def _check_same(expected: Any, first: dict[str, Any], second: dict[str, Any], what: str) -> None:
    for port in expected:
        pairs = zip(*(value if isinstance(value, list) else [value] for value in (first[port], second[port])))
        for one, other in pairs:
            if isinstance(one, Rows):
                np.testing.assert_array_equal(other.rows, one.rows, f"{port} differs: {what}")
            if isinstance(one, pm.LoDTensor):
                assert other.lod == one.lod, f"{port} has other sequences: {what}"
            np.testing.assert_array_equal(array_of(other), array_of(one), f"{port} differs: {what}")


def _ask_gradients(
    op_type: str, inputs: Any, attrs: Any, wanted: Sequence[str], gradient_of: Any, unchecked: Sequence[str], reference: Reference
) -> None:
    inputs = _each(inputs, lambda item: _cast(item, "float64"))
    expected = reference(inputs, {**defaults(op_type), **attrs})
    counts = {port: len(value) if isinstance(value, list) else 1 for port, value in expected.items()}
    counts.update({port: counts.get(port, 1) for port in unchecked})
    ask_gradients(op_type, inputs, attrs, counts, wanted, gradient_of)


def _ask_refusal(op_type: str, inputs: Any, attrs: Any, error: Any, words: str) -> None:
    dtypes = [dtype for dtype in contract(op_type)["dtypes"] if dtype.startswith("float")]
    if dtypes and "float64" not in dtypes:
        inputs = _each(inputs, lambda item: _cast(item, dtypes[0]))
    one = None
    with pytest.raises(error) as caught:
        one = OneOp(op_type, inputs, attrs)
        one.run()
    missing = [word for word in words.split() if word not in str(caught.value)]
    assert not missing, f"{missing} not in the message: {caught.value}"
    if one is not None:
        one.written = set()  # an operator that refuses has written nothing
        one.check_inputs_unchanged()


def _dtypes_to_test(op_type: str, inputs: Any) -> list[str | None]:
    """The float types with kernels; [None] for inputs without floats, which are run as they are."""
    arrays = [array_of(item) for item in _items(inputs)]
    if not any(item.dtype.kind == "f" for item in arrays):
        return [None]
    kernels = contract(op_type)["dtypes"]
    floats = [dtype for dtype in ("float32", "float64") if dtype in kernels or not kernels]
    return list(floats) or ["float32"]


def _output_dtype(attrs: Any, dtype: str | None) -> str | None:
    """The tested dtype, unless an attribute names the dtype of outputs."""
    named = [attrs[name] for name in ("dtype", "out_dtype") if name in attrs]
    return None if any(value not in (-1, None) for value in named) else dtype


def _each(inputs: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    return {
        port: [change(item) for item in value] if isinstance(value, list) else change(value) for port, value in inputs.items()
    }


def _typed(inputs: dict[str, Any], dtype: str | None, float64: Sequence[str]) -> dict[str, Any]:
    return {
        port: value if port in float64 else _each({port: value}, lambda item: _cast(item, dtype))[port]
        for port, value in inputs.items()
    }


def _cast(item: Any, dtype: str | None) -> Any:
    numbers = array_of(item)
    return with_array(item, numbers.astype(dtype) if dtype and numbers.dtype.kind == "f" else numbers)
