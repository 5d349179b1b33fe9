# AveragedSGD: gradient descent whose steps fall so that the average of all parameters is the result.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..averaging.lengths import Lengthy
from ..averaging.schemes import Uniform
from ..guards import default_main_program
from ..layers.learning_rate import inverse_time_decay
from ..layers.tensor import cast
from ..lr.scheduler import inverse_power
from ..roles import LR_SCHEDULE, op_role_guard
from ..transaction import before_setting
from ..variable import Variable
from .parameter_average import ParameterAverage
from .rates import finite
from .sgd import SGD
from .shared_arguments import Common

if TYPE_CHECKING:
    from typing_extensions import Unpack


class _Falling(SGD):
    """SGD with the schedule of AveragedSGD, float32 until it is a parameter's."""

    def __init__(self, learning_rate: float, decay: float, power: float, **common: Unpack[Common]):
        super().__init__(finite("AveragedSGD: learning_rate", learning_rate, low=0.0), **common)
        self._decay = finite("AveragedSGD: decay", decay, low=0.0)
        self._power = finite("AveragedSGD: power", power, low=0.0)

    @property
    def _begin(self) -> float:
        assert isinstance(self.learning_rate, float)
        return self.learning_rate

    def rate_of_program(self, dtype: str) -> Variable:
        main = default_main_program()
        made = self._rates.get((id(main), dtype))
        if made is None or made.block.program is not main:
            with op_role_guard(LR_SCHEDULE):
                before_setting(self._rates, (id(main), dtype))
                rate = inverse_time_decay(1.0, 1, self._decay * self._begin) ** self._power * self._begin
                self._rates[id(main), dtype] = made = rate if rate.dtype == dtype else cast(rate, dtype)
        return made

    def rate_values(self) -> dict[str, Any]:
        return inverse_power("AveragedSGD", self._begin, self._decay * self._begin, self._power, shift=-1)


class AveragedSGD(ParameterAverage):
    """p ← p − η_t g with η_t = learning_rate / (1 + decay · learning_rate · t)^power in run t = 0, 1, …, and the
    uniform average of all p, which apply(), program() and save() use.

    Xu, "Towards Optimal One Pass Large Scale Learning with Averaged Stochastic Gradient Descent", 2011: one pass then
    comes as near to the solution as the exact minimum of the training loss does. decay: about the smallest curvature
    that matters, such as the strength of the L2 regularization. power: 3/4; 2/3 for least squares. start_step: steps
    that the average leaves out. parameters, place, non_finite: as of ParameterAverage.
    Example:
        >>> optimizer = pm.optimizer.AveragedSGD(0.1)
        >>> ops, gradients = optimizer.minimize(pm.layers.mean(pm.layers.fc(pm.layers.data("x", [-1, 8]), 1)))
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(feed={"x": np.ones((4, 8), "float32")})
        []
        >>> with optimizer.apply(exe):
        ...     pass  # evaluate here
    """

    def __init__(
        self,
        learning_rate: float = 0.01,
        decay: float = 1e-4,
        power: float = 0.75,
        start_step: Lengthy = 0,
        parameters: Any = None,
        place: Any = None,
        non_finite: str = "raise",
        **common: Unpack[Common],
    ):
        super().__init__(
            _Falling(learning_rate, decay, power, **common),
            Uniform(),
            start_step=start_step,
            place=place,
            parameters=parameters,
            non_finite=non_finite,
        )
