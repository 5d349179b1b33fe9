# Regularizers: a penalty on parameters, added to their gradients.
"""An object of these classes is the argument regularization of an optimizer, or regularizer of a ParamAttr."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from . import dtypes
from ._core import ProgramError
from .averaging.lengths import is_number
from .block import Block
from .errors import shown
from .renamed import answers_names, show_public
from .roles import OPTIMIZE, op_role_guard
from .transaction import atomic
from .variable import Parameter, Variable

__all__ = ["L1Decay", "L1DecayRegularizer", "L2Decay", "L2DecayRegularizer", "Regularizer", "append_regularization_ops"]

Pairs = list[tuple[Parameter, Variable]]


@answers_names
class Regularizer(ABC):
    """Called with a parameter and a block, appends the penalty's gradient and returns its variable.

    Example:
        >>> optimizer = pm.optimizer.SGD(0.1, regularization=pm.regularizer.L2Decay(1e-4))
    """

    @abstractmethod
    def __call__(self, parameter: Parameter, block: Block) -> Variable:
        """Appends the operators to the block and returns their output variable."""

    def config_values(self) -> dict[str, Any]:
        """The equivalent fields of OptimizerConfig (proto/optimizer.proto)."""
        raise ProgramError(f"{type(self).__name__}: the C library knows L1Decay and L2Decay")


class L2Decay(Regularizer):
    """Adds coeff · p to the gradient of p: the penalty is ½ coeff Σ p².

    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(2.0))
        >>> ops, gradients = pm.optimizer.SGD(0.1, regularization=pm.regularizer.L2Decay(0.5)).minimize(w * 0.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0]
        array([1.9], dtype=float32)
    """

    def __init__(self, coeff: float = 0.0):
        self.coeff = _coefficient(self, coeff)

    def __call__(self, parameter: Parameter, block: Block) -> Variable:
        return _append(block, "scale", parameter, scale=self.coeff)

    def config_values(self) -> dict[str, Any]:
        return {"l2_rate": self.coeff}


class L1Decay(Regularizer):
    """Adds coeff · sign(p) to the gradient of p: the penalty is coeff Σ |p|.

    Example:
        >>> bias = pm.ParamAttr(regularizer=pm.regularizer.L1Decay(1e-4))
        >>> y = pm.layers.fc(pm.layers.data("x", [-1, 8]), 4, bias_attr=bias)
    """

    def __init__(self, coeff: float = 0.0):
        self.coeff = _coefficient(self, coeff)

    def __call__(self, parameter: Parameter, block: Block) -> Variable:
        return _append(block, "scale", _append(block, "sign", parameter), scale=self.coeff)

    def config_values(self) -> dict[str, Any]:
        return {"l1_rate": self.coeff}


@atomic
def append_regularization_ops(pairs: Pairs, regularization: Regularizer | None = None) -> Pairs:
    """Adds each parameter's penalty to its gradient: the parameter's own regularizer, else
    `regularization`. The sum takes the gradient's name; of a sparse gradient it is the dense
    p@GRAD@NEWGRAD@.

    pairs: (parameter, gradient) each. Returns such pairs.
    Example:
        >>> pairs = pm.append_backward(pm.layers.mean(pm.layers.fc(pm.layers.data("x", [-1, 8]), 1)))
        >>> pairs = pm.regularizer.append_regularization_ops(pairs, pm.regularizer.L2Decay(1e-4))
        >>> ops = pm.optimizer.SGD(0.1).apply_gradients(pairs)
    """
    return [
        (parameter, _regularized(parameter, gradient, parameter.regularizer or regularization)) for parameter, gradient in pairs
    ]


def require_regularizer(what: str, value: Any) -> None:
    """ProgramError, naming `what`, for a value that cannot be called with a parameter and a block."""
    if value is not None and (not callable(value) or isinstance(value, type)):
        raise ProgramError(f"{what} is {shown(value)}, it must be a Regularizer, such as regularizer.L2Decay(1e-4)")


def _coefficient(regularizer: Regularizer, coeff: Any) -> float:
    if not is_number(coeff):
        raise ProgramError(f"{type(regularizer).__name__}: coeff is {shown(coeff)}, it must be a finite number")
    return float(coeff)


def _regularized(parameter: Parameter, gradient: Variable, regularizer: Any) -> Variable:
    if regularizer is None:
        return gradient
    block = gradient.block.program.current_block()
    with op_role_guard(OPTIMIZE, [parameter, gradient]):
        penalty = regularizer(parameter, block)
        sparse = gradient.kind == dtypes.SELECTED_ROWS
        name = parameter.name + "@GRAD@NEWGRAD@" if sparse else gradient.name
        block.append_op("sum", {"X": [gradient, penalty]}, {"Out": name})
    return block.var(name)


def _append(block: Block, op_type: str, x: Variable, **attrs: float) -> Variable:
    name = block.program.new_name("regularization.tmp")
    block.append_op(op_type, {"X": x}, {"Out": name}, attrs)
    return block.var(name)


L1DecayRegularizer = L1Decay
L2DecayRegularizer = L2Decay

show_public(globals())
