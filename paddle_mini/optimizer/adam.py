# Adam and AdamW: steps scaled by running moments of the gradient.
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._core import ProgramError
from ..block import Block
from ..errors import shown
from ..operator import Operator
from ..variable import Parameter, Variable
from .optimizer import Optimizer, given
from .rates import Rate, finite
from .shared_arguments import Common

if TYPE_CHECKING:
    from typing_extensions import Unpack

MOMENTS = {"Moment1": "moment1", "Moment2": "moment2", "Beta1Pow": "beta1_pow_acc", "Beta2Pow": "beta2_pow_acc"}


class Adam(Optimizer):
    """m ← β₁ m + (1 − β₁) g; v ← β₂ v + (1 − β₂) g²; p ← p − η m̂ / (√v̂ + ε), with m̂ = m / (1 − β₁ᵗ)
    and v̂ = v / (1 − β₂ᵗ) after t steps.

    Kingma and Ba, "Adam", ICLR 2015. lazy_mode: of a sparse gradient only the rows it names change,
    moments too; else the moments of all rows fade.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.Adam(0.1).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.9], dtype=float32)
    """

    needs_wide_state = "second moments and powers of beta2"  # 0.999 is 1 in bfloat16

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_mode: bool = False,
        **common: Unpack[Common],
    ):
        super().__init__(learning_rate, **common)
        kind = type(self).__name__
        self.beta1 = finite(f"{kind}: beta1", beta1, low=0.0, below=1.0)
        self.beta2 = finite(f"{kind}: beta2", beta2, low=0.0, below=1.0)
        self.epsilon = finite(f"{kind}: epsilon", epsilon, low=0.0)
        self.lazy_mode = self.needs_rows = self.leaves_other_rows = lazy_mode

    def create_accumulators(self, parameter: Parameter) -> None:
        self.accumulator("moment1", parameter)
        self.accumulator("moment2", parameter)
        self.accumulator("beta1_pow_acc", parameter, self.beta1, shape=[1])
        self.accumulator("beta2_pow_acc", parameter, self.beta2, shape=[1])

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        return self.append_update(block, "adam", parameter, gradient, MOMENTS, self._attrs())

    def _attrs(self) -> dict[str, Any]:
        return {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon, "lazy_mode": self.lazy_mode}

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        return {"optimizer": "Adam", "adam": self.moment_values()}

    def moment_values(self) -> dict[str, Any]:
        """The fields of OptimizerConfig (proto/optimizer.proto) for the moments."""
        return {"beta_1": self.beta1, "beta_2": self.beta2, "epsilon": self.epsilon}


class AdamW(Adam):
    """p ← p − η lr_ratio weight_decay p, and then Adam's step: the decay is beside the gradient and its
    moments, not in them.

    Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019.
    apply_decay_param_fun: returns, for the name of a parameter, whether it decays; None: all do.
    lazy_mode: as of Adam. lr_ratio: gives for a parameter the factor of its decay; None: 1. Dense gradients only.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.AdamW(0.1, weight_decay=0.01).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.899], dtype=float32)
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
        lr_ratio: Callable[[Parameter], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        lazy_mode: bool = False,
        **common: Unpack[Common],
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, lazy_mode, **common)
        self.weight_decay = finite("AdamW: weight_decay", weight_decay)
        for name, function in (("lr_ratio", lr_ratio), ("apply_decay_param_fun", apply_decay_param_fun)):
            if function is not None and not callable(function):
                raise ProgramError(f"AdamW: {name} is {shown(function)}, it must be a function of the parameter")
        self.lr_ratio = lr_ratio
        self.apply_decay_param_fun = apply_decay_param_fun

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        decays, ratio = self._decay_of(parameter)
        attrs = {"with_decay": decays, "coeff": self.weight_decay, "lr_ratio": ratio}
        return self.append_update(block, "adamw", parameter, gradient, MOMENTS, {**self._attrs(), **attrs})

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        decays, ratio = self._decay_of(parameter)
        decay = self.weight_decay * ratio if decays else 0.0
        return {"optimizer": "Adam", "adam": {**self.moment_values(), "decay": decay}}

    def _decay_of(self, parameter: Parameter | None) -> tuple[bool, float]:
        """Whether a parameter decays, and its lr_ratio."""
        decays, ratio = True, 1.0
        if self.apply_decay_param_fun is not None:
            decays = bool(self.apply_decay_param_fun(given("AdamW: apply_decay_param_fun", parameter).name))
        if self.lr_ratio is not None:
            ratio = finite("AdamW: lr_ratio", self.lr_ratio(given("AdamW: lr_ratio", parameter)))
        return decays, ratio
