# Gradient clipping: operators between backward and the optimizer that keep gradients small.
"""An object of these classes is the argument grad_clip of an optimizer. Names that begin with Clip are
those of PaddlePaddle 2."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from . import dtypes
from ._core import ProgramError, printable
from .averaging.averaged_parameter import average_dtype
from .averaging.lengths import is_number
from .block import Block
from .errors import shown
from .initializer import Constant
from .renamed import answers_names, show_public
from .roles import OPTIMIZE, op_role_guard
from .transaction import before_setting
from .variable import Parameter, Variable

__all__ = [
    "ClipGradByGlobalNorm",
    "ClipGradByNorm",
    "ClipGradByValue",
    "GradientClip",
    "GradientClipByGlobalNorm",
    "GradientClipByNorm",
    "GradientClipByValue",
]

Pairs = list[tuple[Parameter, Variable]]

_LARGEST = float(np.finfo("float32").max)


@answers_names
class GradientClip(ABC):
    """Called with (parameter, gradient) pairs, appends operators and returns the pairs to use.

    Example:
        >>> optimizer = pm.optimizer.SGD(0.1, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0))
    """

    def __call__(self, pairs: Pairs) -> Pairs:
        """Does not clip parameters whose need_clip is False."""
        chosen = [pair for pair in pairs if pair[0].need_clip]
        clipped = {parameter.name: gradient for parameter, gradient in self.clip(chosen)} if chosen else {}
        return [(parameter, clipped.get(parameter.name, gradient)) for parameter, gradient in pairs]

    @abstractmethod
    def clip(self, pairs: Pairs) -> Pairs:
        """Appends the clipping; returns the pairs with the clipped gradients."""

    def config_values(self) -> dict[str, Any]:
        """The equivalent fields of OptimizerConfig (proto/optimizer.proto)."""
        raise ProgramError(
            f"{type(self).__name__}: an object of the C library sees the gradient of one parameter and "
            "clips it by value or by its own norm"
        )


class GradientClipByValue(GradientClip):
    """Clips each element of a gradient to [min, max]; min=None: −max.

    Example:
        >>> optimizer = pm.optimizer.SGD(0.1, grad_clip=pm.clip.GradientClipByValue(0.5))
    """

    def __init__(self, max: float, min: float | None = None):
        self.max = _number("GradientClipByValue: max", max)
        self.min = -self.max if min is None else _number("GradientClipByValue: min", min)
        if self.min > self.max:
            raise ProgramError(f"GradientClipByValue: min {self.min} is above max {self.max}")

    def clip(self, pairs: Pairs) -> Pairs:
        for parameter, gradient in pairs:
            if gradient.kind == dtypes.SELECTED_ROWS:
                raise ProgramError(
                    f"GradientClipByValue does not take the sparse gradient of '{printable(parameter.name)}'; "
                    "clip by norm, or set need_clip=False in its ParamAttr"
                )
        return _each(pairs, "clip", min=self.min, max=self.max)

    def config_values(self) -> dict[str, Any]:
        if self.min != -self.max:
            raise ProgramError(f"GradientClipByValue: the C library clips to [-max, max], not to [{self.min}, {self.max}]")
        return {"clip_value": self.max}


class GradientClipByNorm(GradientClip):
    """Each gradient g whose norm is above clip_norm becomes g · clip_norm / ‖g‖.

    Example:
        >>> w = pm.layers.create_parameter([2], attr=pm.initializer.Constant(0.0))
        >>> clipped = pm.optimizer.SGD(1.0, grad_clip=pm.clip.GradientClipByNorm(5.0))
        >>> ops, gradients = clipped.minimize(pm.layers.reduce_sum(w * pm.layers.assign(np.array([-6, -8], "float32"))))
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0]
        array([3., 4.], dtype=float32)
    """

    def __init__(self, clip_norm: float):
        self.clip_norm = _positive("GradientClipByNorm: clip_norm", clip_norm)

    def clip(self, pairs: Pairs) -> Pairs:
        return _each(pairs, "clip_by_norm", max_norm=self.clip_norm)

    def config_values(self) -> dict[str, Any]:
        return {"clip_norm": self.clip_norm}


class GradientClipByGlobalNorm(GradientClip):
    """All gradients are multiplied by clip_norm / max(clip_norm, n), n the norm of all of them
    taken as one vector; so their direction stays. Fetch `norm` for n: the variables of the gradients have the clipped ones.
    In GradientMerge and LossScaling it is that of the gradients before the step, and 0 in a run without a step.

    Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks", ICML 2013.
    Example:
        >>> w = pm.layers.create_parameter([2], attr=pm.initializer.Constant(0.0))
        >>> clip = pm.clip.GradientClipByGlobalNorm(1.0)
        >>> loss = pm.layers.reduce_sum(w * pm.layers.assign(np.array([-6, -8], "float32")))
        >>> ops, gradients = pm.optimizer.SGD(1.0, grad_clip=clip).minimize(loss)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[clip.norm])[0]
        array([10.], dtype=float32)
    """

    def __init__(self, clip_norm: float):
        self.clip_norm = _positive("GradientClipByGlobalNorm: clip_norm", clip_norm)
        self._norm: Variable | None = None

    @property
    def norm(self) -> Variable:
        """The norm before clipping, of all gradients that the latest minimize() clips. ProgramError before a minimize()."""
        if self._norm is None:
            raise ProgramError("GradientClipByGlobalNorm.norm is there after minimize(), which makes the variable")
        return self._norm

    def clip(self, pairs: Pairs) -> Pairs:
        if len({gradient.dtype for _, gradient in pairs}) > 1:
            raise ProgramError("GradientClipByGlobalNorm: the gradients are of different element types")
        block = pairs[0][1].block.program.current_block()
        squares = []
        for parameter, gradient in pairs:
            with op_role_guard(OPTIMIZE, [parameter, gradient]):
                squares.append(_append(block, "squared_l2_norm", {"X": _wide(block, _values(block, gradient))}))
        with op_role_guard(OPTIMIZE, pairs[-1]):
            norm = _append(block, "sqrt", {"X": _append(block, "sum", {"X": squares})})
            limit = _append(block, "fill_constant", {}, shape=[1], dtype=norm.dtype, value=self.clip_norm)
            factor = _append(
                block, "elementwise_div", {"X": limit, "Y": _append(block, "elementwise_max", {"X": limit, "Y": norm})}
            )
            shown_norm = _outside(norm)
        before_setting(vars(self), "_norm")
        self._norm = shown_norm
        for parameter, gradient in pairs:
            with op_role_guard(OPTIMIZE, [parameter, gradient]):
                _multiply(block, gradient, factor)
        return pairs


def _outside(value: Variable) -> Variable:
    """The value in a variable that runs can fetch: one of the global block, which is 0 if the inner block does not run."""
    main, inner = value.block.program.global_block(), value.block
    if inner is main:
        return value
    name = main.program.new_name(f"{value.name}.outside")
    shared = main.create_var(name, dtype=value.dtype, shape=value.shape, stop_gradient=True)
    Constant(0.0)(shared, main)
    inner.append_op("assign", {"X": value}, {"Out": shared})
    return shared


def _each(pairs: Pairs, op_type: str, **attrs: float) -> Pairs:
    result = []
    for parameter, gradient in pairs:
        block = gradient.block.program.current_block()
        with op_role_guard(OPTIMIZE, [parameter, gradient]):
            clipped = _append(block, op_type, {"X": gradient}, **attrs)
        block.ops[-1].set_attr("op_role_var", [parameter.name, clipped.name])
        result.append((parameter, clipped))
    return result


def _values(block: Block, gradient: Variable) -> Variable:
    """The elements of a gradient; rows that a sparse one names more than once are added up first."""
    if gradient.kind != dtypes.SELECTED_ROWS:
        return gradient
    merged = _append(block, "merge_selected_rows", {"X": gradient})
    return _append(block, "get_tensor_from_selected_rows", {"X": merged})


def _wide(block: Block, x: Variable) -> Variable:
    """x in float32 if it has 16 bits: float16 has no squares of numbers above 255, and no factors below 6e-8."""
    if average_dtype(x) == x.dtype:
        return x
    return _append(block, "cast", {"X": x}, **_types(x.dtype, average_dtype(x)))


def _multiply(block: Block, gradient: Variable, factor: Variable) -> None:
    """gradient · factor in the place of the gradient, computed in the factor's dtype; rows, which no cast takes, in their own."""
    if gradient.dtype != factor.dtype and gradient.kind != dtypes.SELECTED_ROWS:
        product = _append(block, "elementwise_mul", {"X": _wide(block, gradient), "Y": factor})
        block.append_op("cast", {"X": product}, {"Out": gradient}, _types(product.dtype, gradient.dtype))
        return
    if gradient.dtype != factor.dtype:
        factor = _append(block, "cast", {"X": factor}, **_types(factor.dtype, gradient.dtype))
    block.append_op("elementwise_mul", {"X": gradient, "Y": factor}, {"Out": gradient})


def _types(source: str, target: str) -> dict[str, Any]:
    return {"in_dtype": source, "out_dtype": target}


def _append(block: Block, op_type: str, inputs: Any, **attrs: Any) -> Variable:
    name = block.program.new_name(block.program.new_name(op_type) + ".tmp")
    block.append_op(op_type, inputs, {"Out": name}, attrs)
    return block.var(name)


def _number(what: str, value: Any) -> float:
    """The value as a float. Operators have it as a float32, in which an infinite limit makes gradients NaN."""
    if not is_number(value) or abs(value) > _LARGEST:
        raise ProgramError(f"{what} is {shown(value)}, it must be a finite float32")
    return float(value)


def _positive(what: str, value: Any) -> float:
    number = _number(what, value)
    if not number > 0:
        raise ProgramError(f"{what} is {shown(value)}, it must be above 0")
    return number


ClipGradByValue = GradientClipByValue
ClipGradByNorm = GradientClipByNorm
ClipGradByGlobalNorm = GradientClipByGlobalNorm

show_public(globals())
