# Ftrl: follow the regularized leader, for sparse parameters.
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


class Ftrl(Optimizer):
    """With n = s + g² and k = −lr_power: l ← l + g − (nᵏ − sᵏ) / η p; s ← n;
    p ← (sign(l) l1 − l) / (nᵏ / η + 2 l2) where |l| > l1, else 0.

    McMahan et al., "Ad Click Prediction: a View from the Trenches", KDD 2013. Of a sparse gradient only
    the rows it names change; a dense one works out all, so rows that were never seen become 0.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.Ftrl(0.1).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.9], dtype=float32)
    """

    leaves_other_rows = True
    needs_rows = True
    needs_wide_state = "sums of squares"

    def __init__(self, learning_rate: Rate, l1: float = 0.0, l2: float = 0.0, lr_power: float = -0.5, **common: Unpack[Common]):
        super().__init__(learning_rate, **common)
        self.l1 = finite("Ftrl: l1", l1, low=0.0)
        self.l2 = finite("Ftrl: l2", l2, low=0.0)
        self.lr_power = finite("Ftrl: lr_power", lr_power)

    def create_accumulators(self, parameter: Parameter) -> None:
        self.accumulator("squared", parameter)
        self.accumulator("linear", parameter)

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        squared, linear = self.accumulator("squared", parameter), self.accumulator("linear", parameter)
        return block.append_op(
            "ftrl",
            {
                "Param": parameter,
                "Grad": gradient,
                "LearningRate": self.rate_of(parameter),
                "SquaredAccumulator": squared,
                "LinearAccumulator": linear,
            },
            {"ParamOut": parameter, "SquaredAccumOut": squared, "LinearAccumOut": linear},
            {"l1": self.l1, "l2": self.l2, "lr_power": self.lr_power},
        )

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        return {"optimizer": "Ftrl", "ftrl": {"l1": self.l1, "l2": self.l2, "lr_power": self.lr_power}}
