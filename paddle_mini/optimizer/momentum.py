# Momentum and LarsMomentum: gradient descent with a velocity.
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._core import ProgramError
from ..block import Block
from ..operator import Operator
from ..variable import Parameter, Variable
from .optimizer import Optimizer, given
from .rates import Rate, finite
from .shared_arguments import Common

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Momentum(Optimizer):
    """v ← μ v + g; p ← p − η v, or p ← p − η (g + μ v) with use_nesterov.

    momentum is μ. Sutskever et al., "On the importance of initialization and momentum in deep
    learning", ICML 2013. A sparse gradient counts as zeros in the rows it does not name.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.Momentum(0.1, momentum=0.9).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.8], dtype=float32)
    """

    def __init__(self, learning_rate: Rate = 0.001, momentum: float = 0.9, use_nesterov: bool = False, **common: Unpack[Common]):
        super().__init__(learning_rate, **common)
        self.momentum = finite("Momentum: momentum", momentum)
        self.use_nesterov = use_nesterov

    def create_accumulators(self, parameter: Parameter) -> None:
        self.accumulator("velocity", parameter)

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        return self.append_update(
            block,
            "momentum",
            parameter,
            gradient,
            {"Velocity": "velocity"},
            {"mu": self.momentum, "use_nesterov": self.use_nesterov},
        )

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        return {"optimizer": "SGD", "sgd": {"momentum": self.momentum, "nesterov": self.use_nesterov}}


class LarsMomentum(Optimizer):
    """η' = η lars_coeff ‖p‖ / (‖g‖ + λ ‖p‖ + ε); v ← μ v + η' (g + λ p); p ← p − v; η' = η where λ or a
    norm is 0.

    You, Gitman and Ginsburg, "Large Batch Training of Convolutional Networks", 2017. momentum is μ,
    lars_weight_decay λ. exclude_from_weight_decay: parts of names of parameters whose λ is 0.
    rescale_grad multiplies gradients first. Dense gradients only.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.LarsMomentum(0.1, momentum=0.9, lars_coeff=1.0).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.9], dtype=float32)
    """

    def __init__(
        self,
        learning_rate: Rate,
        momentum: float,
        lars_coeff: float = 0.001,
        lars_weight_decay: float = 0.0005,
        exclude_from_weight_decay: Sequence[str] | None = None,
        epsilon: float = 0.0,
        rescale_grad: float = 1.0,
        **common: Unpack[Common],
    ):
        super().__init__(learning_rate, **common)
        self.momentum = finite("LarsMomentum: momentum", momentum)
        self.lars_coeff = finite("LarsMomentum: lars_coeff", lars_coeff, low=0.0)
        self.lars_weight_decay = finite("LarsMomentum: lars_weight_decay", lars_weight_decay, low=0.0)
        self.epsilon = finite("LarsMomentum: epsilon", epsilon, low=0.0)
        self.rescale_grad = finite("LarsMomentum: rescale_grad", rescale_grad)
        if isinstance(exclude_from_weight_decay, str):  # each letter would be a part of a name
            raise ProgramError("LarsMomentum: exclude_from_weight_decay is a string, it must be a list of strings")
        self.exclude_from_weight_decay = list(exclude_from_weight_decay or ())

    def create_accumulators(self, parameter: Parameter) -> None:
        self.accumulator("velocity", parameter)

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        attrs = {
            "mu": self.momentum,
            "lars_coeff": self.lars_coeff,
            "epsilon": self.epsilon,
            "lars_weight_decay": [self._decay_of(parameter)],
            "rescale_grad": self.rescale_grad,
        }
        return self.append_update(block, "lars_momentum", parameter, gradient, {"Velocity": "velocity"}, attrs)

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        fields = {
            "momentum": self.momentum,
            "lars_coeff": self.lars_coeff,
            "epsilon": self.epsilon,
            "lars_weight_decay": self._decay_of(parameter),
            "rescale_grad": self.rescale_grad,
        }
        return {"optimizer": "Lars", "lars": fields}

    def _decay_of(self, parameter: Parameter | None) -> float:
        if not self.exclude_from_weight_decay:
            return self.lars_weight_decay
        name = given("LarsMomentum: exclude_from_weight_decay", parameter).name
        return 0.0 if any(part in name for part in self.exclude_from_weight_decay) else self.lars_weight_decay
