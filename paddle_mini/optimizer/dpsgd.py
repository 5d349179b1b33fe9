# Dpsgd: gradient descent with clipped gradients and noise, for differential privacy.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import ProgramError
from ..block import Block
from ..operator import Operator
from ..variable import Parameter, Variable
from .optimizer import Optimizer
from .rates import Rate, finite
from .shared_arguments import Common

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Dpsgd(Optimizer):
    """p ← p − η (g / max(‖g‖ / clip, 1) + z / batch_size), z drawn once a step from the normal distribution
    with standard deviation sigma.

    After Abadi et al., "Deep Learning with Differential Privacy", CCS 2016, but as PaddlePaddle does it:
    one number z is shared by all elements of a parameter, and gradients are clipped as a batch. That is
    less private than the paper. seed: 0: the program's random_seed, or else the executor's generator.
    Dense gradients only.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.Dpsgd(0.1, sigma=0.0).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.8], dtype=float32)
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        clip: float = 10.0,
        batch_size: float = 16.0,
        sigma: float = 1.0,
        seed: int = 0,
        **common: Unpack[Common],
    ):
        super().__init__(learning_rate, **common)
        self.clip = finite("Dpsgd: clip", clip, low=0.0)
        self.batch_size = finite("Dpsgd: batch_size", batch_size, low=0.0)
        self.sigma = finite("Dpsgd: sigma", sigma, low=0.0)
        self.seed = seed

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        attrs = {
            "clip": self.clip,
            "batch_size": self.batch_size,
            "sigma": self.sigma,
            "seed": self.seed or block.program.next_seed(),
        }
        return self.append_update(block, "dpsgd", parameter, gradient, {}, attrs)

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        if not self.seed:
            raise ProgramError("Dpsgd: the program chooses the seed, but an object of the C library needs one; pass seed")
        fields = {"clip": self.clip, "batch_size": self.batch_size, "sigma": self.sigma, "seed": self.seed}
        return {"optimizer": "Dpsgd", "dpsgd": fields}
