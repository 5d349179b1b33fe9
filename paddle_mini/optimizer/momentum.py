# Momentum: gradient descent with a velocity.
from __future__ import annotations

from typing import Any, Union

from ..operator import Operator
from ..program import Block
from ..variable import Parameter, Variable
from .optimizer import Optimizer, finite


class Momentum(Optimizer):
    """v ← μ v + g; p ← p − η v, or p ← p − η (g + μ v) with use_nesterov.

    momentum is μ. Sutskever et al., "On the importance of initialization and momentum in deep
    learning", ICML 2013. A sparse gradient counts as zeros in the rows it does not name.
    """

    def __init__(self, learning_rate: Union[float, Variable] = 0.001, momentum: float = 0.9,
                 use_nesterov: bool = False, **common: Any):
        super().__init__(learning_rate, **common)
        self.momentum = finite("Momentum: momentum", momentum)
        self.use_nesterov = use_nesterov

    def create_accumulators(self, parameter: Parameter) -> None:
        self.accumulator("velocity", parameter)

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        velocity = self.accumulator("velocity", parameter)
        return block.append_op(
            "momentum",
            {"Param": parameter, "Grad": gradient, "Velocity": velocity, "LearningRate": self.rate_of(parameter)},
            {"ParamOut": parameter, "VelocityOut": velocity},
            {"mu": self.momentum, "use_nesterov": self.use_nesterov})
