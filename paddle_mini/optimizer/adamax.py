# Adamax: Adam with the largest gradient in the place of the root mean square.
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


class Adamax(Optimizer):
    """m ← β₁ m + (1 − β₁) g; u ← max(|g|, β₂ u + ε); p ← p − η / (1 − β₁ᵗ) m / u after t steps.

    Kingma and Ba, "Adam", ICLR 2015, section 7.1. Dense gradients only.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.Adamax(0.1).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.9], dtype=float32)
    """

    needs_wide_state = "decaying norms"  # 0.999 u is u in bfloat16

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        **common: Unpack[Common],
    ):
        super().__init__(learning_rate, **common)
        self.beta1 = finite("Adamax: beta1", beta1, low=0.0, below=1.0)
        self.beta2 = finite("Adamax: beta2", beta2, low=0.0, below=1.0)
        self.epsilon = finite("Adamax: epsilon", epsilon, low=0.0)

    def create_accumulators(self, parameter: Parameter) -> None:
        self.accumulator("moment", parameter)
        self.accumulator("inf_norm", parameter)
        self.accumulator("beta1_pow_acc", parameter, self.beta1, shape=[1])

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        moment, norm = self.accumulator("moment", parameter), self.accumulator("inf_norm", parameter)
        return block.append_op(
            "adamax",
            {
                "Param": parameter,
                "Grad": gradient,
                "LearningRate": self.rate_of(parameter),
                "Moment": moment,
                "InfNorm": norm,
                "Beta1Pow": self.accumulator("beta1_pow_acc", parameter),
            },
            {"ParamOut": parameter, "MomentOut": moment, "InfNormOut": norm},
            {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon},
        )

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        fields = {"beta_1": self.beta1, "beta_2": self.beta2, "epsilon": self.epsilon}
        return {"optimizer": "Adamax", "adamax": fields}

    def append_finish_ops(self, block: Block, parameter: Parameter) -> None:
        # The operator reads β₁ᵗ and leaves it as it is, unlike adam.
        power = self.accumulator("beta1_pow_acc", parameter)
        block.append_op("scale", {"X": power}, {"Out": power}, {"scale": self.beta1})
