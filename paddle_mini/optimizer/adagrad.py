# Adagrad, DecayedAdagrad and Adadelta: steps scaled by all gradients so far, or by the newer ones.
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


class Adagrad(Optimizer):
    """m ← m + g²; p ← p − η g / (√m + ε); m begins with initial_accumulator_value.

    Duchi, Hazan and Singer, "Adaptive Subgradient Methods", JMLR 2011. Of a sparse gradient only the
    rows it names change.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.Adagrad(0.1).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.9], dtype=float32)
    """

    leaves_other_rows = True
    needs_wide_state = "sums of squares"

    def __init__(
        self, learning_rate: Rate, epsilon: float = 1e-6, initial_accumulator_value: float = 0.0, **common: Unpack[Common]
    ):
        super().__init__(learning_rate, **common)
        self.epsilon = finite("Adagrad: epsilon", epsilon, low=0.0)
        self.initial_accumulator_value = finite("Adagrad: initial_accumulator_value", initial_accumulator_value, low=0.0)
        self.needs_rows = self.epsilon == self.initial_accumulator_value == 0  # 0 / 0 in rows never named

    def create_accumulators(self, parameter: Parameter) -> None:
        self.accumulator("moment", parameter, self.initial_accumulator_value)

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        return self.append_update(block, "adagrad", parameter, gradient, {"Moment": "moment"}, {"epsilon": self.epsilon})

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        fields = {"epsilon": self.epsilon, "initial_accumulator_value": self.initial_accumulator_value}
        return {"optimizer": "Adagrad", "adagrad": fields}


class DecayedAdagrad(Optimizer):
    """m ← decay m + (1 − decay) g²; p ← p − η g / (√m + ε). Dense gradients only.

    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.DecayedAdagrad(0.1).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.553], dtype=float32)
    """

    needs_wide_state = "averages of squares"

    def __init__(self, learning_rate: Rate, decay: float = 0.95, epsilon: float = 1e-6, **common: Unpack[Common]):
        super().__init__(learning_rate, **common)
        self.decay = finite("DecayedAdagrad: decay", decay, low=0.0, below=1.0)
        self.epsilon = finite("DecayedAdagrad: epsilon", epsilon, low=0.0)

    def create_accumulators(self, parameter: Parameter) -> None:
        self.accumulator("moment", parameter)

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        return self.append_update(
            block, "decayed_adagrad", parameter, gradient, {"Moment": "moment"}, {"decay": self.decay, "epsilon": self.epsilon}
        )

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        return {"optimizer": "DecayedAdagrad", "decayed_adagrad": {"decay": self.decay, "epsilon": self.epsilon}}


class Adadelta(Optimizer):
    """a ← ρ a + (1 − ρ) g²; u = −√((b + ε) / (a + ε)) g; b ← ρ b + (1 − ρ) u²; p ← p + η u.

    Zeiler, "ADADELTA", 2012, where η is 1. Dense gradients only.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.Adadelta(1.0).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.996], dtype=float32)
    """

    needs_wide_state = "averages of squares"

    def __init__(self, learning_rate: Rate = 0.001, epsilon: float = 1e-6, rho: float = 0.95, **common: Unpack[Common]):
        super().__init__(learning_rate, **common)
        self.epsilon = finite("Adadelta: epsilon", epsilon, low=0.0)
        self.rho = finite("Adadelta: rho", rho, low=0.0, below=1.0)

    def create_accumulators(self, parameter: Parameter) -> None:
        self.accumulator("_avg_squared_grad", parameter)
        self.accumulator("_avg_squared_update", parameter)

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        kept = {"AvgSquaredGrad": "_avg_squared_grad", "AvgSquaredUpdate": "_avg_squared_update"}
        return self.append_update(block, "adadelta", parameter, gradient, kept, {"rho": self.rho, "epsilon": self.epsilon})

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        return {"optimizer": "Adadelta", "adadelta": {"rho": self.rho, "epsilon": self.epsilon}}
