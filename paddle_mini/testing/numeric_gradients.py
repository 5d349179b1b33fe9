# The gradients of an operator, compared with central differences in float64.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import paddle_mini as pm

from .. import _core, dtypes
from ..gradient_formulas import FORMULAS
from ..schemas import op_schema
from .one_op import OneOp, Rows, array, array_of, complex_array, with_array

TOLERANCE = 2e-6  # for each element: |gradient - slope| < TOLERANCE * (1 + |slope|)
STEP = 1e-5
DIRECTIONS = (31, 32)  # seeds


def ask_gradients(op_type: str, inputs: Any, attrs: Any, counts: dict[str, int], wanted: Sequence[str], gradient_of: Any) -> None:
    """counts: number of variables of each output; wanted, gradient_of: as in op_tests."""
    one = OneOp(op_type, inputs, attrs, counts, aliased=False)
    values = one.run()
    ops = _core.gradient(one.op.describe())
    read = {name for op in ops for _, names in op["inputs"] for name in names}
    flows = [
        name
        for port, names in one.outputs.items()
        for name in names
        if (port in gradient_of if gradient_of is not None else name + "@GRAD" in read)
    ]
    by_name = {
        name: value
        for port, names in one.outputs.items()
        for name, value in zip(names, values[port] if isinstance(values[port], list) else [values[port]])
    }
    weights = {name: _weights_like(by_name[name], 7 + i) for i, name in enumerate(flows)}
    for name in [name for name in by_name if name + "@GRAD" in read]:
        value = by_name[name]
        one.put(name + "@GRAD", with_array(value, weights.get(name, np.zeros_like(array_of(value)))))
    analytic = analytic_gradients(one, ops, [name for port in wanted for name in one.arguments.get(port, [])])
    forward = OneOp(op_type, inputs, attrs, counts, aliased=False)
    for name, gradient in analytic.items():
        start = array_of(one.values[name])
        assert (gradient.shape, gradient.dtype) == (start.shape, start.dtype), f"{name}@GRAD is not like {name}"
    check_slopes(forward, analytic, weights, "{}@GRAD")


def analytic_gradients(one: OneOp, ops: list[Any], names: list[str]) -> dict[str, np.ndarray]:
    """Computes all gradients at once, and each alone; both must be the same."""
    available = {name for op in ops for _, outs in op["outputs"] for name in outs}
    for name in names:
        assert name + "@GRAD" in available, f"the schema's gradient does not compute {name}@GRAD"
    together = _run_gradient(one, ops, names)
    for name in names if len(names) > 1 else []:
        alone = _run_gradient(one, ops, [name])[name]
        np.testing.assert_array_equal(alone, together[name], f"{name}@GRAD alone differs")
    return together


def _run_gradient(one: OneOp, ops: list[Any], names: list[str]) -> dict[str, np.ndarray]:
    wanted = {name + "@GRAD" for name in names}
    program = pm.Program.from_bytes(one.program.to_bytes())
    for op in ops:
        outputs = {slot: [out if out in wanted else "@EMPTY@" for out in outs] for slot, outs in op["outputs"]}
        outputs = {slot: outs for slot, outs in outputs.items() if set(outs) != {"@EMPTY@"}}
        if outputs:
            attrs = {name: value for name, _, value in op["attrs"]}
            inputs = {slot: _poisoned(program, op["type"], slot, args) for slot, args in op["inputs"]}
            program.global_block().append_op(op["type"], inputs, outputs, attrs)
    found = one.fetch(sorted(wanted), program)
    return {
        name[:-5]: value.dense() if isinstance(value, Rows) else array_of(value) for name, value in zip(sorted(wanted), found)
    }


def _poisoned(program: pm.Program, op_type: str, port: str, names: list[str]) -> list[str]:
    """NaN in place of values of which, according to the schema, only the shape is read."""
    schema = op_schema(op_type)
    if not any(one["name"] == port and one["shape_only"] for one in schema["inputs"]):
        return names
    block, result = program.global_block(), []
    for name in names:
        var = block.find_var(name)
        known = var is not None and var.dtype in ("float32", "float64", "complex64", "complex128") and var.kind == dtypes.TENSOR
        result.append(name + "@NAN" if known else name)
        if known and not block.has_var(name + "@NAN"):
            block.append_op("fill_any_like", {"X": name}, {"Out": name + "@NAN"}, {"value": float("nan")})
    return result


def _weights_like(value: Any, seed: int) -> np.ndarray:
    numbers = array_of(value)
    return (complex_array if numbers.dtype.kind == "c" else array)(*numbers.shape, seed=seed)


def check_slopes(forward: OneOp, gradients: dict[str, np.ndarray], weights: dict[str, np.ndarray], said: str) -> None:
    """Compares gradients of Σ weights · outputs, {input: array}, with central differences.

    All elements of all inputs move at once, along two random directions: four runs instead of two an element. A direction
    moves each element by half of its scale at least, and the slopes may differ by half of what one element may, so an element
    that is wrong alone is found as if only it moved. Errors e of several elements can cancel: by chance, as the parts of a
    direction are independent, along both with a probability below (TOLERANCE / max |e|)^2. Where the slopes differ, which the
    curvature of a function may cause too, each element is compared, and `said` names the wrong one."""
    if all(_agree_along(forward, gradients, weights, seed) for seed in DIRECTIONS):
        return
    for name, gradient in gradients.items():
        for place in np.ndindex(gradient.shape):
            slope = _slope_of_element(forward, name, place, weights)
            error = abs(gradient[place] - slope) / (1.0 + abs(slope))
            assert error < TOLERANCE, f"{said.format(name)}{list(place)} is {gradient[place]}, numerically {slope}"


def _agree_along(forward: OneOp, gradients: dict[str, np.ndarray], weights: dict[str, np.ndarray], seed: int) -> bool:
    directions, expected = {}, 0.0
    for i, (name, gradient) in enumerate(gradients.items()):
        parts = _weights_like(gradient, 100 * seed + i)  # in [-1, 1)
        directions[name] = _scale(forward.values[name]) * _at_least_half(parts)
        expected += _product(gradient, directions[name])
    return abs(_slope(forward, directions, weights) - expected) < TOLERANCE / 2


def _at_least_half(parts: np.ndarray) -> np.ndarray:
    """Numbers in [-1, 1) as numbers of the same signs whose size is in [1/2, 1]."""
    if parts.dtype.kind == "c":
        return _at_least_half(parts.real) + 1j * _at_least_half(parts.imag)
    return np.copysign(0.5 + 0.5 * abs(parts), parts)


def _scale(value: Any) -> np.ndarray:
    return np.maximum(1.0, abs(array_of(value)))


def _product(one: np.ndarray, other: np.ndarray) -> float:
    """For complex numbers this is the sum of the products of their real parts and of their imaginary parts, and the slopes along
    the real and the imaginary part are those of the gradient."""
    return float(np.sum(one.conj() * other).real)


def _slope_of_element(forward: OneOp, name: str, place: Any, weights: dict[str, np.ndarray]) -> complex | float:
    start = array_of(forward.values[name])
    scale = float(_scale(start[place]))

    def along(direction: complex | float) -> float:
        directions = np.zeros_like(start)
        directions[place] = scale * direction
        return _slope(forward, {name: directions}, weights) / scale

    return along(1.0) + 1j * along(1j) if start.dtype.kind == "c" else along(1.0)


def _slope(forward: OneOp, directions: dict[str, np.ndarray], weights: dict[str, np.ndarray]) -> float:
    """Central difference of Σ weights · outputs along a direction, {input: array}."""
    values = {name: forward.values[name] for name in directions}
    sums = []
    for step in (STEP, -STEP):
        for name, value in values.items():
            forward.put(name, with_array(value, array_of(value) + step * directions[name]))
        outputs = forward.fetch(list(weights))
        sums.append(sum(_product(weights[out], array_of(found)) for out, found in zip(weights, outputs)))
    for name, value in values.items():
        forward.put(name, value)
    return (sums[0] - sums[1]) / (2 * STEP)


def has_second_gradient(one: OneOp) -> bool:
    """Whether every operator of the gradient has a gradient itself, as an operator or as a formula; of complex numbers, an
    operator with kernels for them."""
    first = _core.gradient(one.op.describe())
    if not all(op["type"] in FORMULAS or op_schema(op["type"])["no_gradient"] is None for op in first):
        return False
    if not any(array_of(value).dtype.kind == "c" for value in one.values.values()):
        return True
    return all(
        op["type"] not in FORMULAS
        and all("complex128" in (op_schema(second["type"])["dtypes"] or ["complex128"]) for second in _core.gradient(op))
        for op in first
    )


def ask_second_gradients(
    op_type: str, inputs: Any, attrs: Any, counts: dict[str, int], wanted: Sequence[str], flows: Any
) -> None:
    """The gradients of Σ weights · first gradients, compared with central differences; arguments as of ask_gradients."""
    one = OneOp(op_type, inputs, attrs, counts, aliased=False)
    if not has_second_gradient(one):
        return
    values, block = one.run(), one.block
    read = {name for op in _core.gradient(one.op.describe()) for _, names in op["inputs"] for name in names}
    targets: list[pm.Variable] = []
    seeds: list[pm.Variable] = []
    for port, names in one.outputs.items():
        for name, value in zip(names, values[port] if isinstance(values[port], list) else [values[port]]):
            if port in flows if flows is not None else name + "@GRAD" in read:
                one.put(name + "@SEED", with_array(value, _weights_like(value, 11 + len(seeds))))
                targets.append(block.var(name))
                seeds.append(block.var(name + "@SEED"))
    sources = [block.var(name) for port in wanted for name in one.arguments.get(port, [])]
    firsts = [first for first in pm.gradients(targets, sources, seeds) if first is not None]
    found = one.fetch([first.name for first in firsts])
    if any(isinstance(value, Rows) for value in found):
        return  # gradients of selected rows have no gradients
    weights = {first.name: _weights_like(value, 23 + i) for i, (first, value) in enumerate(zip(firsts, found))}
    for first, value in zip(firsts, found):
        one.put(first.name + "@WEIGHT", with_array(value, weights[first.name]))
    start = OneOp.__new__(OneOp)
    start.__dict__.update(one.__dict__, program=pm.Program.from_bytes(one.program.to_bytes()))
    try:
        seconds = pm.gradients(firsts, [*sources, *seeds], [block.var(first.name + "@WEIGHT") for first in firsts])
    except pm.ProgramError as refusal:
        assert "is not known" in str(refusal), refusal  # a formula that has a condition
        return
    known = [second for second in seconds if second is not None]
    results = dict(zip([second.name for second in known], one.fetch([second.name for second in known]) if known else []))
    gradients = {}
    for var, second in zip([*sources, *seeds], seconds):
        before = array_of(one.values[var.name])
        gradients[var.name] = np.zeros_like(before) if second is None else array_of(results[second.name])
        assert gradients[var.name].shape == before.shape, f"the second gradient of {var.name} is not like it"
    check_slopes(start, gradients, weights, "the second gradient of {}")
