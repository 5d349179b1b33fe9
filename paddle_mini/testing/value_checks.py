# Checks of an operator's outputs: against its reference, against `infer` and against another run.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import paddle_mini as pm

from .. import _core
from .one_op import COMPLEX_OF, OneOp, Rows, array_of


def check_infer(one: OneOp, found: dict[str, Any], open_shapes: bool) -> None:
    """`infer` must be right, and must not fail on unknown dimensions."""

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


def check_value(port: str, found: Any, expected: Any, dtype: str | None, tolerance: dict[str, float]) -> None:
    if isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), f"{port}: {len(expected)} values expected"
        for i, (one, other) in enumerate(zip(found, expected)):
            check_value(f"{port}[{i}]", one, other, dtype, tolerance)
        return
    if isinstance(expected, Rows):
        assert isinstance(found, Rows), f"{port} is not selected rows"
        assert (list(found.rows), found.height) == (list(expected.rows), expected.height), f"{port}: other rows"
        found, expected = found.values, expected.values
    lods = [value.lod if isinstance(value, pm.LoDTensor) else [] for value in (found, expected)]
    assert lods[0] == lods[1], f"{port} has lod {lods[0]}, not {lods[1]}"
    assert not isinstance(found, Rows), f"{port} is selected rows"
    found, expected = array_of(found), array_of(expected)
    wanted = (
        {"float64": dtype, "complex128": COMPLEX_OF.get(dtype)}.get(expected.dtype.name, expected.dtype)
        if dtype
        else expected.dtype
    )
    assert found.dtype == wanted, f"{port} is {found.dtype}, not {wanted}"
    assert found.shape == expected.shape, f"{port} has shape {found.shape}, not {expected.shape}"
    if found.dtype.kind in "fc":
        limit = tolerance[{"complex64": "float32", "complex128": "float64"}.get(found.dtype.name, found.dtype.name)]
        np.testing.assert_allclose(found, expected, rtol=limit, atol=limit, err_msg=port)
    else:
        np.testing.assert_array_equal(found, expected, port)


def check_same(expected: Any, first: dict[str, Any], second: dict[str, Any], what: str) -> None:
    for port in expected:
        pairs = zip(*(value if isinstance(value, list) else [value] for value in (first[port], second[port])))
        for one, other in pairs:
            if isinstance(one, Rows):
                np.testing.assert_array_equal(other.rows, one.rows, f"{port} differs: {what}")
            if isinstance(one, pm.LoDTensor):
                assert other.lod == one.lod, f"{port} has other sequences: {what}"
            np.testing.assert_array_equal(array_of(other), array_of(one), f"{port} differs: {what}")
