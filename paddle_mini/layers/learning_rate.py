# Learning-rate schedules made of operators, so that a program carries its schedule wherever it runs.
"""Each function returns a variable of one float32 element for an optimizer's learning_rate. In the
formulas t counts the runs of the program: 0 in the first run, 1 in noam_decay's; η is learning_rate.
The schedules of a program share the counter `@LR_DECAY_COUNTER@`, and the first one defines where it
begins. Program.clone(for_test=True) leaves all of it out. Formulas and names are those of
PaddlePaddle's fluid.layers; where it branches (piecewise_decay, linear_lr_warmup), `where` chooses.
"""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from .._core import ProgramError
from ..errors import shown
from ..guards import default_main_program, default_startup_program
from ..roles import LR_SCHEDULE, op_role_guard
from ..variable import Variable
from . import ops
from .emit import create_state, emit, refuse, whole
from .fill import fill_constant
from .tensor import cast as cast_to

COUNTER = "@LR_DECAY_COUNTER@"

Schedule = TypeVar("Schedule", bound=Callable[..., Variable])


def _schedule(function: Schedule) -> Schedule:
    """Operators of the function are the learning-rate schedule's."""

    @functools.wraps(function)
    def scheduled(*args: Any, **kwargs: Any) -> Variable:
        with op_role_guard(LR_SCHEDULE):
            return function(*args, **kwargs)

    return cast(Schedule, scheduled)


@_schedule
def exponential_decay(learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool = False) -> Variable:
    """η decay_rate^(t / decay_steps); staircase: of the whole part of t / decay_steps.

    Args:
        learning_rate: the rate η at step 0
        decay_steps: steps for one factor
        decay_rate: the factor
        staircase: whether the exponent is rounded down
    Returns:
        the rate, one element
    Example:
        >>> pm.layers.exponential_decay(0.1, 1000, 0.9).shape
        (1,)
    """
    rate = _rate("exponential_decay", learning_rate)
    base = _number("exponential_decay", "decay_rate", decay_rate)
    return (base ** _periods("exponential_decay", decay_steps, staircase)) * rate


@_schedule
def natural_exp_decay(learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool = False) -> Variable:
    """η exp(−decay_rate t / decay_steps); staircase: of the whole part of t / decay_steps.

    Args:
        learning_rate: the rate η at step 0
        decay_steps: steps for one unit of t
        decay_rate: the rate of the exponent
        staircase: whether t / decay_steps is rounded down
    Returns:
        the rate, one element
    Example:
        >>> pm.layers.natural_exp_decay(0.1, 1000, 0.5).shape
        (1,)
    """
    rate = _rate("natural_exp_decay", learning_rate)
    speed = _number("natural_exp_decay", "decay_rate", decay_rate)
    return ops.exp(_periods("natural_exp_decay", decay_steps, staircase) * -speed) * rate


@_schedule
def inverse_time_decay(learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool = False) -> Variable:
    """η / (1 + decay_rate t / decay_steps); staircase: of the whole part of t / decay_steps.

    Args:
        learning_rate: the rate η at step 0
        decay_steps: steps for one unit of t
        decay_rate: the slope
        staircase: whether t / decay_steps is rounded down
    Returns:
        the rate, one element
    Example:
        >>> pm.layers.inverse_time_decay(0.1, 1000, 0.5).shape
        (1,)
    """
    rate = _rate("inverse_time_decay", learning_rate)
    speed = _number("inverse_time_decay", "decay_rate", decay_rate)
    return rate / (_periods("inverse_time_decay", decay_steps, staircase) * speed + 1.0)


@_schedule
def polynomial_decay(
    learning_rate: float, decay_steps: float, end_learning_rate: float = 0.0001, power: float = 1.0, cycle: bool = False
) -> Variable:
    """(η − end)(1 − min(t, S) / S)^power + end with S = decay_steps and end = end_learning_rate; with
    `cycle`, S is the next multiple of decay_steps instead, so the rate rises again and again.

    learning_rate: η. Returns one float32 element.
    Example:
        >>> pm.layers.polynomial_decay(0.1, decay_steps=1000, end_learning_rate=0.001, power=2.0).shape
        (1,)
    """
    rate = _rate("polynomial_decay", learning_rate)
    end = _rate("polynomial_decay", end_learning_rate, "end_learning_rate")
    power = _number("polynomial_decay", "power", power)
    steps = _constant(_positive("polynomial_decay", "decay_steps", decay_steps))
    t = _step(0)
    if cycle:
        left = 1.0 - t / (ops.elementwise_max(ops.ceil(t / steps), _constant(1.0)) * steps)
    else:
        left = 1.0 - ops.elementwise_min(t, steps) / steps
    return (left**power) * (rate - end) + end


@_schedule
def piecewise_decay(boundaries: Sequence[int], values: Sequence[float]) -> Variable:
    """values[i] while boundaries[i − 1] ≤ t < boundaries[i]: one value more than boundaries. The variable
    is persistable and called learning_rate.

    Returns the variable: one float32 element.
    Example:
        >>> pm.layers.piecewise_decay(boundaries=[1000, 2000], values=[0.1, 0.01, 0.001]).shape
        (1,)
    """
    if not isinstance(boundaries, (list, tuple)) or not isinstance(values, (list, tuple)):
        refuse(ProgramError, "piecewise_decay: boundaries and values must be lists")
    steps = [whole("piecewise_decay", "boundaries", step, low=0) for step in boundaries]
    rates = [_rate("piecewise_decay", value, "values") for value in values]
    if len(rates) != len(steps) + 1 or steps != sorted(set(steps)):
        refuse(ProgramError, f"piecewise_decay: boundaries {steps} must rise and values {rates} be one more")
    t, chosen = _step(0), _constant(rates[-1])
    for step, rate in zip(reversed(steps), reversed(rates[:-1])):
        chosen = emit("where", {"Condition": t < step, "X": _constant(rate), "Y": chosen})
    return _kept("learning_rate", chosen)


@_schedule
def noam_decay(d_model: int, warmup_steps: int, learning_rate: float = 1.0) -> Variable:
    """η d_model^−½ min(t^−½, t warmup_steps^−1.5), t from 1.

    Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 5.3.
    learning_rate: η. Returns one float32 element.
    Example:
        >>> pm.layers.noam_decay(d_model=512, warmup_steps=4000).shape
        (1,)
    """
    rate = _rate("noam_decay", learning_rate) * whole("noam_decay", "d_model", d_model) ** -0.5
    slope = whole("noam_decay", "warmup_steps", warmup_steps) ** -1.5
    t = _step(1)
    return ops.elementwise_min(t**-0.5, t * slope) * rate


@_schedule
def cosine_decay(learning_rate: float, step_each_epoch: float, epochs: float) -> Variable:
    """η (cos(⌊t / step_each_epoch⌋ π / epochs) + 1) / 2.

    Loshchilov and Hutter, "SGDR", ICLR 2017, without restarts.
    learning_rate: η. step_each_epoch: runs in an epoch. epochs: half the period. Returns one float32 element.
    Example:
        >>> pm.layers.cosine_decay(0.1, step_each_epoch=100, epochs=30).shape
        (1,)
    """
    rate = _rate("cosine_decay", learning_rate)
    turn = math.pi / _positive("cosine_decay", "epochs", epochs)
    epoch = _periods("cosine_decay", step_each_epoch, True, "step_each_epoch")
    return (ops.cos(epoch * turn) + 1.0) * (rate / 2)


@_schedule
def linear_lr_warmup(learning_rate: float | Variable, warmup_steps: int, start_lr: float, end_lr: float) -> Variable:
    """start_lr + (end_lr − start_lr) t / warmup_steps while t < warmup_steps, then learning_rate: a number,
    or the variable of another schedule. The variable is persistable and called learning_rate_warmup.

    Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 2.2. Returns the variable: one float32 element.
    Example:
        >>> decay = pm.layers.exponential_decay(0.1, decay_steps=1000, decay_rate=0.5)
        >>> rate = pm.layers.linear_lr_warmup(decay, warmup_steps=100, start_lr=0.0, end_lr=0.1)
        >>> rate.name
        'learning_rate_warmup'
    """
    steps = whole("linear_lr_warmup", "warmup_steps", warmup_steps)
    start, end = _rate("linear_lr_warmup", start_lr, "start_lr"), _rate("linear_lr_warmup", end_lr, "end_lr")
    if isinstance(learning_rate, Variable):
        if learning_rate.dtype != "float32" or math.prod(learning_rate.shape) != 1:
            refuse(ProgramError, f"linear_lr_warmup: learning_rate is '{learning_rate}', it must be one float32 element")
        after = emit("reshape2", {"X": learning_rate}, {"shape": [1]}, outputs={"Out": 1, "XShape": 1})
    else:
        after = _constant(_rate("linear_lr_warmup", learning_rate))
    t = _step(0)
    rising = t * ((end - start) / steps) + start
    chosen = emit("where", {"Condition": t < steps, "X": rising, "Y": after})
    return _kept("learning_rate_warmup", chosen)


@_schedule
def pow2_decay_with_linear_warmup(warmup_steps: int, total_steps: int, base_lr: float, end_lr: float) -> Variable:
    """Rises in a line to base_lr within warmup_steps runs, then falls in a parabola to end_lr at
    total_steps: one operator, with a separate counter. The variable is persistable.

    Returns the variable: one float32 element.
    Example:
        >>> pm.layers.pow2_decay_with_linear_warmup(warmup_steps=100, total_steps=1000, base_lr=0.1, end_lr=0.001).shape
        (1,)
    """
    layer, main = "pow2_decay_with_linear_warmup", default_main_program()
    warmup = whole(layer, "warmup_steps", warmup_steps, low=0)
    attrs = {
        "warmup_steps": warmup,
        "total_steps": whole(layer, "total_steps", total_steps, low=warmup + 1),
        "base_lr": _rate(layer, base_lr, "base_lr"),
        "end_lr": _rate(layer, end_lr, "end_lr"),
    }
    rate = create_state(main.new_name("learning_rate"), [1], "float32", base_lr)
    step = create_state(main.new_name("step"), [1], "int64", 0)
    return emit(layer, {"LearningRate": rate, "Step": step}, attrs, outputs={"LearningRateOut": rate, "StepOut": step})


def _step(begin: int) -> Variable:
    """t as float32 [1]. The program's first schedule makes the counter, which is `begin` in the first
    run; the increment stands before all operators, so every reader sees this run's number."""
    block, startup = default_main_program().global_block(), default_startup_program().global_block()
    if COUNTER not in block.vars:
        facts = {"shape": [1], "dtype": "int64", "persistable": True, "stop_gradient": True}
        if COUNTER not in startup.vars:
            startup.create_var(COUNTER, **facts)
            attrs = {"shape": [1], "dtype": "int64", "value": float(begin - 1), "force_cpu": True}
            startup.append_op("fill_constant", {}, {"Out": COUNTER}, attrs)
        counter = block.create_var(COUNTER, **facts)
        block.prepend_op("increment", {"X": counter}, {"Out": counter}, {"step": 1.0})
    return cast_to(block.vars[COUNTER], "float32")


def _periods(layer: str, length: float, whole_ones: bool, what: str = "decay_steps") -> Variable:
    """t / length, or the whole part of it."""
    # A true division: t · (1 / length) falls short of an integer for some lengths, as 41 / 41 does.
    length = _positive(layer, what, length)
    periods = _step(0) / _constant(length)
    return ops.floor(periods) if whole_ones else periods


def _kept(name: str, value: Variable) -> Variable:
    """The value in a persistable variable, so that a scope shows it after a run."""
    block = default_main_program().global_block()
    name = default_main_program().new_name(name) if name in block.vars else name
    return emit("assign", {"X": value}, outputs={"Out": create_state(name, [1], "float32", 0.0)})


def _constant(value: float) -> Variable:
    return fill_constant([1], "float32", value)


def _rate(layer: str, value: Any, what: str = "learning_rate") -> float:
    rate = _number(layer, what, value)
    if rate < 0:
        refuse(ProgramError, f"{layer}: {what} is {shown(value)}, it must be at least 0")
    return rate


def _number(layer: str, what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
        refuse(ProgramError, f"{layer}: {what} is {shown(value)}, it must be a finite number")
    return float(value)


def _positive(layer: str, what: str, value: Any) -> float:
    number = _number(layer, what, value)
    if number <= 0:
        refuse(ProgramError, f"{layer}: {what} is {shown(value)}, it must be above 0")
    return number
