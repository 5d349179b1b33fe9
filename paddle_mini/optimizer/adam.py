# Adam: steps scaled by running moments of the gradient.
from __future__ import annotations

from typing import Any, Union

from ..operator import Operator
from ..program import Block
from ..variable import Parameter, Variable
from .optimizer import Optimizer, finite


class Adam(Optimizer):
    """m ← β₁ m + (1 − β₁) g; v ← β₂ v + (1 − β₂) g²; p ← p − η m̂ / (√v̂ + ε), with m̂ = m / (1 − β₁ᵗ)
    and v̂ = v / (1 − β₂ᵗ) after t steps.

    Kingma and Ba, "Adam", ICLR 2015. lazy_mode: of a sparse gradient only the rows it names change,
    moments too; else the moments of all rows fade.
    """

    def __init__(self, learning_rate: Union[float, Variable] = 0.001, beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-8, lazy_mode: bool = False, **common: Any):
        super().__init__(learning_rate, **common)
        self.beta1 = finite("Adam: beta1", beta1, low=0.0, below=1.0)
        self.beta2 = finite("Adam: beta2", beta2, low=0.0, below=1.0)
        self.epsilon = finite("Adam: epsilon", epsilon, low=0.0)
        self.lazy_mode = lazy_mode

    def create_accumulators(self, parameter: Parameter) -> None:
        self.accumulator("moment1", parameter)
        self.accumulator("moment2", parameter)
        self.accumulator("beta1_pow_acc", parameter, self.beta1, shape=[1])
        self.accumulator("beta2_pow_acc", parameter, self.beta2, shape=[1])

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        keys = ["moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc"]
        ports = ["Moment1", "Moment2", "Beta1Pow", "Beta2Pow"]
        kept = {port: self.accumulator(key, parameter) for port, key in zip(ports, keys)}
        return block.append_op(
            "adam",
            {"Param": parameter, "Grad": gradient, "LearningRate": self.rate_of(parameter), **kept},
            {"ParamOut": parameter, **{port + "Out": var for port, var in kept.items()}},
            {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon, "lazy_mode": self.lazy_mode})
