# Edge cases of operators: dimensions of zero, scalars, indices out of range, axes counted from the end. An operator may
# compute or reject them; it may not crash or give a result that differs from `infer`.
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import paddle_mini as pm

from .. import _core
from ..schemas import op_schema
from .one_op import OneOp, Rows, array_of

AXES = ("axis", "dim", "dims", "axes", "begin_norm_axis", "begin_axis", "axis1", "axis2")


def variants(inputs: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The inputs with one of them changed: (description, inputs)."""
    for port, value in inputs.items():
        items = value if isinstance(value, list) else [value]
        for i, item in enumerate(items):
            for what, other in _changed(item):
                changed = [*items[:i], other, *items[i + 1 :]]
                yield f"{port} {what}", {**inputs, port: changed if isinstance(value, list) else changed[0]}


def _changed(item: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(item, (Rows, pm.LoDTensor)):
        return
    numbers = array_of(item)
    for axis, size in enumerate(numbers.shape):
        if size:
            yield f"without elements along {axis}", numbers.take(range(0), axis)
            yield f"with one element along {axis}", numbers.take([0], axis)
    if numbers.size and numbers.ndim:
        yield "of no dimension", numbers.reshape(-1)[0].reshape(())
    if numbers.size and numbers.dtype.kind == "i":
        limits = np.iinfo(numbers.dtype)
        for number in (-1, limits.min, limits.max):
            yield f"with {number}", np.full_like(numbers, number)


def ask_edges(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], counts: dict[str, int]) -> None:
    # The executor rejects huge results: computing 2**31 positions would take too long.
    for what, changed in variants(inputs):
        try:
            one = OneOp(op_type, changed, attrs, counts, aliased=False)
            found = one.run()
        except pm.Error:
            continue
        for port, names in one.outputs.items():
            for name, value in zip(names, found[port] if isinstance(found[port], list) else [found[port]]):
                if isinstance(value, Rows):
                    continue
                shape, var = array_of(value).shape, one.block.var(name)
                agree = len(shape) == len(var.shape) and all(a in (-1, b) for a, b in zip(var.shape, shape))
                assert agree, f"{what}: infer says {var}, {port} has shape {shape}"
        _bear_gradient(one, found)


def _bear_gradient(one: OneOp, found: dict[str, Any]) -> None:
    if op_schema(one.op.type)["no_gradient"] is not None:
        return
    ops = _core.gradient(one.op.describe())
    values = {
        name: value
        for port, names in one.outputs.items()
        for name, value in zip(names, found[port] if isinstance(found[port], list) else [found[port]])
    }
    written = {name for op in ops for _, names in op["outputs"] for name in names}
    for name in {name for op in ops for _, names in op["inputs"] for name in names}:
        plain = name[: -len("@GRAD")]
        if name.endswith("@GRAD") and name not in written and plain in values and array_of(values[plain]).dtype.kind in "fc":
            one.put(name, values[plain])
    try:
        for op in ops:
            one.block.append_op(
                op["type"], dict(op["inputs"]), dict(op["outputs"]), {name: value for name, _, value in op["attrs"]}
            )
        one.fetch(sorted(written))
    except pm.Error:
        return


def ask_negative_axes(op_type: str, inputs: dict[str, Any], attrs: dict[str, Any], counts: dict[str, int]) -> None:
    """An axis counted from the end gives the same bits, or is rejected."""
    ports = [port["name"] for port in op_schema(op_type)["inputs"] if port["name"] in inputs]
    if not ports or isinstance(inputs[ports[0]], list) or not array_of(inputs[ports[0]]).ndim:
        return
    rank = array_of(inputs[ports[0]]).ndim
    expected = OneOp(op_type, inputs, attrs, counts, aliased=False).run()
    for name in AXES:
        value = attrs.get(name)
        axes: list[Any] = value if isinstance(value, list) else [value]
        if not axes or not all(isinstance(axis, int) and 0 <= axis < rank for axis in axes):
            continue
        if op_type in COUNT_OTHER_AXES or (op_type.startswith("elementwise") and name == "axis"):
            continue
        other = [axis - rank for axis in axes]
        try:
            found = OneOp(
                op_type, inputs, {**attrs, name: other if isinstance(value, list) else other[0]}, counts, aliased=False
            ).run()
        except pm.Error:
            continue
        for port, first in expected.items():
            for one, same in zip(*(item if isinstance(item, list) else [item] for item in (first, found[port]))):
                np.testing.assert_array_equal(array_of(same), array_of(one), f"{port} differs with {name}={other}")


# Their axes count those of the result, or of something other than the first input; for a vector, frame takes 0 and -1 for two
# orders of the result.
COUNT_OTHER_AXES = {"frame", "stack", "unsqueeze2", "one_hot_v2"}
