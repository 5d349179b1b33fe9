# ProximalGD and ProximalAdagrad: steps that draw parameters to zero, and to exactly zero with l1.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..block import Block
from ..operator import Operator
from ..variable import Parameter, Variable
from .optimizer import Optimizer
from .rates import Rate, finite
from .shared_arguments import Common

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ProximalGD(Optimizer):
    """q = p − η g; p ← sign(q) max(|q| − η l1, 0) / (1 + η l2). Dense gradients only.

    Duchi and Singer, "Efficient Online and Batch Learning Using Forward Backward Splitting", JMLR 2009.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.ProximalGD(0.1, l1=0.5).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.75], dtype=float32)
    """

    def __init__(self, learning_rate: Rate, l1: float = 0.0, l2: float = 0.0, **common: Unpack[Common]):
        super().__init__(learning_rate, **common)
        self.l1 = finite("ProximalGD: l1", l1, low=0.0)
        self.l2 = finite("ProximalGD: l2", l2, low=0.0)

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        return self.append_update(block, "proximal_gd", parameter, gradient, {}, {"l1": self.l1, "l2": self.l2})

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        return {"optimizer": "ProximalGD", "proximal_gd": {"l1": self.l1, "l2": self.l2}}


class ProximalAdagrad(Optimizer):
    """m ← m + g²; q = p − η g / √m; p ← sign(q) max(|q| − η l1, 0) / (1 + η l2).

    m begins with initial_accumulator_value; from 0, elements whose gradient is 0 in the first step would
    become NaN. Dense gradients only.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.ProximalAdagrad(0.1, l1=0.1).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.891], dtype=float32)
    """

    needs_wide_state = "sums of squares"

    def __init__(
        self,
        learning_rate: Rate,
        l1: float = 0.0,
        l2: float = 0.0,
        initial_accumulator_value: float = 0.1,
        **common: Unpack[Common],
    ):
        super().__init__(learning_rate, **common)
        self.l1 = finite("ProximalAdagrad: l1", l1, low=0.0)
        self.l2 = finite("ProximalAdagrad: l2", l2, low=0.0)
        self.initial_accumulator_value = finite("ProximalAdagrad: initial_accumulator_value", initial_accumulator_value, low=0.0)

    def create_accumulators(self, parameter: Parameter) -> None:
        self.accumulator("moment", parameter, self.initial_accumulator_value)

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        return self.append_update(
            block, "proximal_adagrad", parameter, gradient, {"Moment": "moment"}, {"l1": self.l1, "l2": self.l2}
        )

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        fields = {"l1": self.l1, "l2": self.l2, "initial_accumulator_value": self.initial_accumulator_value}
        return {"optimizer": "ProximalAdagrad", "proximal_adagrad": fields}
