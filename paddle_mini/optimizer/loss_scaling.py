# LossScaling: gradients of a loss times a number that keeps small ones from being lost; no step where they overflow.
from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from .._core import ProgramError, printable
from ..block import Block
from ..errors import shown
from ..guards import default_main_program, program_guard
from ..layers.emit import create_state
from ..lr.scheduler import number, whole
from ..operator import Operator
from ..program import Program
from ..roles import BACKWARD, LOSS, op_role_guard
from ..variable import Variable
from .pairs import Pairs
from .wrapper import Wrapper


class LossScaling(Wrapper):
    """Computes the gradients of s · loss, divides them by s, and lets the optimizer take a step where all
    of them are finite. Micikevicius et al., "Mixed Precision Training", ICLR 2018, section 3.2.

    optimizer: any, with its clipping and regularization, which see the divided gradients.
    init_loss_scaling: s at the beginning. use_dynamic_loss_scaling: s is multiplied by incr_ratio after
    incr_every_n_steps runs in a row whose gradients are finite, unless it becomes infinite, and by
    decr_ratio, but to no less than 1, after decr_every_n_nan_or_inf in a row whose are not; else it stays.
    These are the defaults and the rule of paddle.static.amp.decorate.

    After minimize: `updated`, a variable, bool [1]: whether this run took the step; `loss_scaling`, the
    variable of s: one element of the loss' dtype, persistable as the two counts beside it. The loss itself
    is not scaled. In a run that takes no step parameters and what the optimizer keeps stay the same bits.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> optimizer = pm.optimizer.LossScaling(pm.optimizer.SGD(0.1), init_loss_scaling=1024.0)
        >>> ops, gradients = optimizer.minimize(w)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w, optimizer.updated, optimizer.loss_scaling])
        [array([0.9], dtype=float32), array([ True]), array(1024., dtype=float32)]
    """

    def __init__(
        self,
        optimizer: Any,
        init_loss_scaling: float = 2.0**15,
        incr_every_n_steps: int = 1000,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.8,
        use_dynamic_loss_scaling: bool = True,
    ):
        super().__init__(optimizer)
        self.init_loss_scaling = number(self, "init_loss_scaling", init_loss_scaling, above=0.0)
        limits = np.finfo("float32")
        if not float(limits.tiny) <= self.init_loss_scaling <= float(limits.max):
            raise ProgramError(f"LossScaling: init_loss_scaling is {shown(init_loss_scaling)}, it must be a float32 above 0")
        self.incr_every_n_steps = whole(self, "incr_every_n_steps", incr_every_n_steps)
        self.decr_every_n_nan_or_inf = whole(self, "decr_every_n_nan_or_inf", decr_every_n_nan_or_inf)
        self.incr_ratio = number(self, "incr_ratio", incr_ratio, above=1.0)
        self.decr_ratio = number(self, "decr_ratio", decr_ratio, above=0.0)
        if self.decr_ratio >= 1:
            raise ProgramError(f"LossScaling: decr_ratio is {shown(decr_ratio)}, it must be below 1")
        if not isinstance(use_dynamic_loss_scaling, bool):
            raise ProgramError(
                f"LossScaling: use_dynamic_loss_scaling is {shown(use_dynamic_loss_scaling)}, it must be True or False"
            )
        self.use_dynamic_loss_scaling = use_dynamic_loss_scaling
        self.loss_scaling: Variable | None = None

    def backward(
        self, loss: Variable, startup_program: Program | None = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> Pairs:
        """The optimizer's backward, beginning with s where it begins with 1."""
        pairs = super().backward(loss, startup_program, parameter_list, no_grad_set)
        block = loss.block
        seed = next(op for op in reversed(block.ops) if op.attr("op_role") == BACKWARD | LOSS)
        gradient = seed.output("Out")[0]
        with program_guard(block.program, startup_program), op_role_guard(BACKWARD):
            scale = self.loss_scaling
            if scale is None or scale.block.program is not block.program:
                name = block.program.new_name("loss_scaling")
                scale = self.loss_scaling = create_state(name, [], loss.dtype, self.init_loss_scaling)
            block.insert_op(seed.index + 1, "elementwise_mul", {"X": gradient, "Y": scale}, {"Out": gradient})
        return pairs

    def check(self, program: Program, pairs: Pairs) -> None:
        super().check(program, pairs)
        scale = self.loss_scaling
        if scale is None or scale.block.program is not program:
            raise ProgramError("LossScaling: the gradients are not scaled: call its own backward() first")
        for parameter, gradient in pairs:
            if gradient.dtype != scale.dtype:
                raise ProgramError(
                    f"LossScaling: the gradient of '{printable(parameter.name)}' is {gradient.dtype}, the loss is "
                    f"{scale.dtype}; they must be of one dtype"
                )

    def append(self, pairs: Pairs, updated: Variable) -> list[Operator]:
        program = default_main_program()
        block, scale = program.current_block(), self.loss_scaling
        assert scale is not None  # check() refuses gradients that are not scaled
        found = block.create_var(program.new_name("find_infinite_scale"), dtype="bool", shape=[1], stop_gradient=True)
        sparse = [gradient for _, gradient in pairs if gradient.kind == dtypes.SELECTED_ROWS]
        checked = [_elements(block, gradient) for _, gradient in pairs]
        block.append_op("check_finite_and_unscale", {"X": checked, "Scale": scale}, {"Out": checked, "FoundInfinite": found})
        if sparse:
            inverse = _append(block, "reciprocal", scale)
            for gradient in sparse:
                block.append_op("elementwise_mul", {"X": gradient, "Y": inverse}, {"Out": gradient})
        if self.use_dynamic_loss_scaling:
            self._append_rule(block, checked, found)
        block.append_op("logical_not", {"X": found}, {"Out": updated})
        return self.append_where(updated, pairs)

    def _append_rule(self, block: Block, checked: list[Variable], found: Variable) -> None:
        good, bad = (create_state(block.program.new_name(key), [1], "int32", 0) for key in ("num_good_steps", "num_bad_steps"))
        block.append_op(
            "update_loss_scaling",
            {"X": checked, "FoundInfinite": found, "PrevLossScaling": self.loss_scaling, "InGoodSteps": good, "InBadSteps": bad},
            {"Out": checked, "LossScaling": self.loss_scaling, "OutGoodSteps": good, "OutBadSteps": bad},
            {
                "incr_every_n_steps": self.incr_every_n_steps,
                "incr_ratio": self.incr_ratio,
                "decr_every_n_nan_or_inf": self.decr_every_n_nan_or_inf,
                "decr_ratio": self.decr_ratio,
            },
        )


def _elements(block: Block, gradient: Variable) -> Variable:
    """The elements of a gradient; rows that a sparse one names more than once are added up first, since
    their sum may overflow."""
    if gradient.kind != dtypes.SELECTED_ROWS:
        return gradient
    return _append(block, "get_tensor_from_selected_rows", _append(block, "merge_selected_rows", gradient))


def _append(block: Block, op_type: str, x: Variable) -> Variable:
    name = block.program.new_name(f"{op_type}.tmp")
    block.append_op(op_type, {"X": x}, {"Out": name})
    return block.var(name)
