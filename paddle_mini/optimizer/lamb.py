# Lamb: Adam with the length of each parameter's step set by the parameter's own.
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._core import ProgramError
from ..block import Block
from ..errors import shown
from ..operator import Operator
from ..variable import Parameter, Variable
from .adam import MOMENTS, Adam
from .optimizer import given
from .rates import Rate, finite
from .shared_arguments import Common

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Lamb(Adam):
    """t = m̂ / (√v̂ + ε) + λ p with Adam's m̂ and v̂; p ← p − η (‖p‖ / ‖t‖) t.

    You et al., "Large Batch Optimization for Deep Learning", ICLR 2020. lamb_weight_decay is λ; where it
    is 0, the ratio of the norms is left out unless always_adapt.
    exclude_from_weight_decay_fn: returns for a parameter whether λ is 0. A sparse gradient counts as zeros
    in the rows it does not name.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.Lamb(0.1).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.9], dtype=float32)
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        exclude_from_weight_decay_fn: Callable[[Parameter], bool] | None = None,
        always_adapt: bool = False,
        **common: Unpack[Common],
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, False, **common)
        self.lamb_weight_decay = finite("Lamb: lamb_weight_decay", lamb_weight_decay, low=0.0)
        if exclude_from_weight_decay_fn is not None and not callable(exclude_from_weight_decay_fn):
            raise ProgramError(
                f"Lamb: exclude_from_weight_decay_fn is {shown(exclude_from_weight_decay_fn)}, it must be "
                "a function of the parameter"
            )
        self.exclude_from_weight_decay_fn = exclude_from_weight_decay_fn
        self.always_adapt = always_adapt

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        attrs = {
            "beta1": self.beta1,
            "beta2": self.beta2,
            "epsilon": self.epsilon,
            "weight_decay": self._decay_of(parameter),
            "always_adapt": self.always_adapt,
        }
        return self.append_update(block, "lamb", parameter, gradient, MOMENTS, attrs)

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        fields = {"weight_decay": self._decay_of(parameter), "always_adapt": self.always_adapt}
        return {"optimizer": "Lamb", "lamb": {**self.moment_values(), **fields}}

    def _decay_of(self, parameter: Parameter | None) -> float:
        if self.exclude_from_weight_decay_fn is None:
            return self.lamb_weight_decay
        checked = given("Lamb: exclude_from_weight_decay_fn", parameter)
        return 0.0 if self.exclude_from_weight_decay_fn(checked) else self.lamb_weight_decay
