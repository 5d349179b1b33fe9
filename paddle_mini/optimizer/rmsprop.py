# RMSProp: steps scaled by the root mean square of the newer gradients.
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


class RMSProp(Optimizer):
    """s ← ρ s + (1 − ρ) g²; m ← μ m + η g / √(s + ε); p ← p − m. centered: ḡ ← ρ ḡ + (1 − ρ) g, and
    s − ḡ² in the place of s under the root.

    Tieleman and Hinton, "Neural Networks for Machine Learning", lecture 6.5; centered: Graves,
    "Generating Sequences With Recurrent Neural Networks", 2013, eq. 38–45. momentum is μ. A sparse
    gradient counts as zeros in the rows it does not name.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.RMSProp(0.1).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.553], dtype=float32)
    """

    needs_wide_state = "averages of squares"

    def __init__(
        self,
        learning_rate: Rate,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        **common: Unpack[Common],
    ):
        super().__init__(learning_rate, **common)
        self.rho = finite("RMSProp: rho", rho, low=0.0, below=1.0)
        self.epsilon = finite("RMSProp: epsilon", epsilon, low=0.0)
        self.momentum = finite("RMSProp: momentum", momentum)
        self.centered = centered

    def create_accumulators(self, parameter: Parameter) -> None:
        # PaddlePaddle 2.6.2 refuses a program whose operator has no MeanGrad, centered or not.
        for key in ("momentum", "mean_square", "mean_grad"):
            self.accumulator(key, parameter)

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        kept = {"Moment": "momentum", "MeanSquare": "mean_square", "MeanGrad": "mean_grad"}
        attrs = {"decay": self.rho, "epsilon": self.epsilon, "momentum": self.momentum, "centered": self.centered}
        return self.append_update(block, "rmsprop", parameter, gradient, kept, attrs)

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        fields = {"rho": self.rho, "epsilon": self.epsilon, "momentum": self.momentum, "centered": self.centered}
        return {"optimizer": "RMSProp", "rmsprop": fields}
