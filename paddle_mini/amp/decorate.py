# decorate: an optimizer whose minimize first rewrites the program for mixed precision.
from __future__ import annotations

import inspect
from typing import Any

from .._core import ProgramError
from ..errors import shown
from ..guards import default_startup_program, program_guard
from ..operator import Operator
from ..optimizer.lookahead import Lookahead
from ..optimizer.loss_scaling import LossScaling
from ..optimizer.optimizer import Minimizer
from ..optimizer.pairs import Pairs, by_name
from ..optimizer.schedule_free import ScheduleFree
from ..optimizer.wrapper import OptimizerWrapper, averages_are_rounded, chain
from ..program import Program
from ..renamed import renamed
from ..transaction import before_setting
from ..variable import Parameter, Variable
from .casts import insert_casts, require_no_backward
from .lists import AutoMixedPrecisionLists
from .masters import Masters, make_masters, of_masters, round_masters


class MixedPrecision(OptimizerWrapper):
    """Inserts the casts of mixed precision into the program of the loss before the optimizer's backward; see decorate().

    optimizer: any, also one of wrappers. dtype: "bfloat16" or "float16". amp_lists: an AutoMixedPrecisionLists. level: "O1" or
    "O2".
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> hidden = pm.layers.fc(x, 4, act="relu")
        >>> optimizer = pm.amp.MixedPrecision(pm.optimizer.SGD(0.1), "bfloat16", pm.amp.AutoMixedPrecisionLists())
        >>> ops, gradients = optimizer.minimize(pm.layers.mean(hidden))
        >>> hidden.dtype, gradients[0][1].dtype
        ('bfloat16', 'float32')
    """

    def __init__(self, optimizer: Any, dtype: str, amp_lists: AutoMixedPrecisionLists, level: str = "O1"):
        super().__init__(optimizer)
        if any(isinstance(one, MixedPrecision) for one in chain(optimizer)):
            raise ProgramError("the optimizer is decorated for mixed precision already")
        kind = next((type(one).__name__ for one in chain(optimizer) if isinstance(one, (Lookahead, ScheduleFree))), None)
        if level == "O2" and kind is not None:
            raise averages_are_rounded(kind)
        self.dtype = dtype
        self.amp_lists = amp_lists
        self.level = level
        self.masters: Masters = {}

    def backward(
        self, loss: Variable, startup_program: Program | None = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> Pairs:
        """Inserts the casts, at level O2 after the masters; then the optimizer's backward."""
        if self.level == "O2":
            require_no_backward(loss.block)
            with program_guard(loss.block.program, startup_program or default_startup_program()):
                before_setting(vars(self), "masters")
                self.masters = make_masters(loss, self.dtype, self.amp_lists)
        insert_casts(loss, self.dtype, self.amp_lists)
        return super().backward(loss, startup_program, parameter_list, no_grad_set)

    def apply_gradients(self, params_grads: Pairs) -> list[Operator]:
        """The optimizer's: parameters and gradients are float32, at level O2 masters and their gradients."""
        by_name(params_grads)
        ops: list[Operator] = self.optimizer.apply_gradients(of_masters(params_grads, self.masters))
        round_masters(params_grads, self.masters)
        self.note(params_grads)
        return ops

    def config_values(self, parameter: Parameter | None) -> dict[str, Any]:
        """The optimizer's at level O1, where parameters and their gradients are float32."""
        if self.level == "O2":
            raise ProgramError(
                "level O2 of mixed precision has a master beside each parameter of 16 bits, which an object of the C library has "
                "not: take level O1"
            )
        if not isinstance(self.optimizer, Minimizer):
            raise ProgramError(f"{type(self.optimizer).__name__} is not an optimizer of the C library")
        return self.optimizer.config_values(parameter)


def decorate(
    optimizer: Any,
    amp_lists: AutoMixedPrecisionLists | None = None,
    level: str = "O1",
    dtype: str = "bfloat16",
    use_dynamic_loss_scaling: bool | None = None,
    **scaling: Any,
) -> MixedPrecision:
    """An optimizer for mixed precision: its minimize casts what products read to 16 bits, so that they and the operators after
    them keep their activations in 16 bits, and appends gradients and steps as `optimizer` does.

    What the optimizer keeps, the values that it changes, and averages are float32. Losses, sums, norms of layers, exponentials
    and tables are computed in float32, and so are operators in loops and branches. softmax and its loss compute in float32 but
    keep 16-bit probabilities where only products read them. Variables of the program change their dtype where they are
    computed in 16 bits.
    optimizer: any, also one of wrappers. amp_lists: which operators are computed in which type, an AutoMixedPrecisionLists.
    level: "O1": parameters are float32, and are cast in each run. "O2": parameters that only operators in 16 bits read are of
    16 bits, each with a master of float32 beside it, W_fp32_master_0 for W. Optimizers, clipping, regularization and averages
    work on the masters, of which the parameters are the rounded values; the startup program initializes both. Set masters, too,
    where you set parameters after that: a step overwrites parameters. fit(initialize=False) makes masters from parameters that
    have values. Programs for testing are cloned after minimize, when the parameters are of 16 bits.
    dtype: "bfloat16", with the range of float32, or "float16".
    use_dynamic_loss_scaling: whether the loss is scaled, by a factor that follows overflows: see LossScaling. None: for
    float16, which needs it, unless the optimizer is a LossScaling. scaling: arguments of LossScaling, such as init_loss_scaling.
    Returns a MixedPrecision. Raises ProgramError for other levels and dtypes, and for a second scaling of the loss.
    Example:
        >>> x, label = pm.layers.data("x", [-1, 8]), pm.layers.data("label", [-1, 1], "int64")
        >>> logits = pm.layers.fc(pm.layers.fc(x, 16, act="relu"), 4)
        >>> loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))
        >>> ops, gradients = pm.amp.decorate(pm.optimizer.Adam(0.01), dtype="float16").minimize(loss)
        >>> logits.dtype, loss.dtype
        ('float16', 'float32')
    """
    if dtype not in ("bfloat16", "float16"):
        raise ProgramError(f"decorate: dtype is {shown(dtype)}, it must be 'bfloat16' or 'float16'")
    if level not in ("O1", "O2"):
        raise ProgramError(
            f"decorate: level is {shown(level)}, it must be 'O1', with parameters of float32, or 'O2', with parameters of 16 bits"
        )
    if amp_lists is not None and not isinstance(amp_lists, AutoMixedPrecisionLists):
        raise ProgramError(f"decorate: amp_lists is {shown(amp_lists)}, it must be an AutoMixedPrecisionLists")
    scaling = renamed("decorate", scaling, inspect.signature(LossScaling).parameters)
    is_scaled = any(isinstance(one, LossScaling) for one in chain(optimizer))
    scales = use_dynamic_loss_scaling
    if scales is None:
        scales = bool(scaling) or (dtype == "float16" and not is_scaled)
    if scales or scaling:
        if is_scaled:  # gradients in 16 bits would overflow by the product of both factors
            raise ProgramError("the optimizer scales the loss already: give the arguments of LossScaling to it")
        optimizer = LossScaling(optimizer, use_dynamic_loss_scaling=scales, **scaling)
    return MixedPrecision(optimizer, dtype, amp_lists or AutoMixedPrecisionLists(), level)
