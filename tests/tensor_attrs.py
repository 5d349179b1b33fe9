# Operators that take numbers from attributes or from tensors: both ways must do the same.
from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

import numpy as np

import paddle_mini as pm
from paddle_mini import _core
from numeric_gradients import analytic_gradients
from one_op import OneOp, array


def check_tensors(op_type: str, inputs: Dict[str, Any], attrs: Dict[str, Any], tensors: Dict[str, Any],
                  left: Optional[Dict[str, Any]] = None, outputs: Any = None, gradients: Sequence[str] = ()) -> None:
    """`tensors` are inputs that say what some of `attrs` say; `left` are the attributes given beside them.

    Runs the operator with `attrs`, then with `tensors` and `left`; outputs and the gradients of the inputs
    named in `gradients` must be the same, bit for bit."""
    first, second = OneOp(op_type, inputs, attrs, outputs), OneOp(op_type, {**inputs, **tensors}, left or {}, outputs)
    expected, found = first.run(), second.run()
    for port in expected:
        _check_same(port, expected[port], found[port])
        values = found[port] if isinstance(found[port], list) else [found[port]]
        for name, value in zip(second.outputs[port], values):
            var = second.block.var(name)
            agree = len(var.shape) == value.ndim and all(a in (-1, b) for a, b in zip(var.shape, value.shape))
            assert agree and var.dtype == value.dtype, f"{port}: infer says {var}, the kernel made {value.shape}"
    second.check_inputs_unchanged()
    again = pm.Program.from_bytes(second.program.to_bytes())
    for port, value in second.run(again).items():
        _check_same(port, expected[port], value)
    if gradients:
        gradient = _gradients(second, gradients)
        for name, value in _gradients(first, gradients).items():
            _check_same(name + "@GRAD", value, gradient[name])


def _gradients(one: OneOp, wanted: Sequence[str]) -> Dict[str, Any]:
    values = one.run()
    for port, names in one.outputs.items():
        held = values[port] if isinstance(values[port], list) else [values[port]]
        for i, (name, value) in enumerate(zip(names, held)):
            one.put(name + "@GRAD", array(*value.shape, seed=3 + i).astype(value.dtype))
    names = [name for port in wanted for name in one.arguments[port]]
    return analytic_gradients(one, _core.gradient(one.op.describe()), names)


def _check_same(port: str, expected: Any, found: Any) -> None:
    pairs = zip(expected, found) if isinstance(expected, list) else [(expected, found)]
    for one, other in pairs:
        assert one.dtype == other.dtype and one.shape == other.shape, f"{port}: {one.shape}, not {other.shape}"
        np.testing.assert_array_equal(other, one, port)
