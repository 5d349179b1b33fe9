# ScheduleFree: an optimizer that needs no learning-rate schedule, since its result is an average.
from __future__ import annotations

from typing import Any

from .._core import ProgramError
from ..averaging.average_swapper import AverageSwapper
from ..averaging.averaged_parameter import AveragedParameter, like, state
from ..averaging.running import RunningAverage, append_beginning
from ..averaging.scheme import Scheme
from ..guards import default_main_program
from ..initializer import Constant
from ..operator import Operator
from ..program import Program
from ..roles import OPTIMIZE, op_role_guard
from .averaging_optimizer import AveragingOptimizer
from .pairs import Pairs, by_name
from .rates import finite
from .wrapper import averages_are_rounded, chain, is_level_o2, require_dense, require_wide, updated_by


class ByRate(Scheme):
    """Step t weighs as the square of the largest learning rate up to it."""

    def __repr__(self) -> str:
        return "ScheduleFree()"

    def attrs(self, every: int) -> dict[str, Any]:
        return {"scheme": "rate"}


class ScheduleFree(AveragingOptimizer):
    """z ← the optimizer's step with the gradient at y; x ← x + c (z − x); y ← z + beta (x − z), where y are the
    parameters while training and x, an average of z, those that apply(), program() and save() use.

    Defazio et al., "The Road Less Scheduled", 2024. optimizer: any, with a constant learning rate, perhaps after a
    warm-up; its own momentum is best left out (Adam with beta1=0), beta stands for it. Its regularization sees z. c is
    the square of the largest learning rate so far as part of the sum of all these squares. z and x are kept beside
    the parameters, so that going from one to another and back changes no bit; both begin as the parameters before the
    first step. ProgramError for sparse gradients.
    Example:
        >>> loss = pm.layers.mean(pm.layers.fc(pm.layers.data("x", [-1, 8]), 1))
        >>> optimizer = pm.optimizer.ScheduleFree(pm.optimizer.Adam(0.01, beta1=0.0))
        >>> ops, gradients = optimizer.minimize(loss)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(feed={"x": np.ones((4, 8), "float32")})
        []
        >>> with optimizer.apply(exe):
        ...     pass  # evaluate here
    """

    def __init__(self, optimizer: Any, beta: float = 0.9):
        super().__init__(optimizer)
        inside = next((one for one in chain(optimizer) if isinstance(one, AveragingOptimizer)), None)
        if inside is not None:
            raise ProgramError(f"ScheduleFree around {type(inside).__name__}: what it trains is an average already")
        if is_level_o2(optimizer):
            raise averages_are_rounded("ScheduleFree")
        self.beta = finite("ScheduleFree: beta", beta, low=0.0, below=1.0)

    def check(self, program: Program, pairs: Pairs) -> None:
        self.require_new()
        require_dense("ScheduleFree", pairs)
        require_wide("ScheduleFree", pairs)

    def apply_gradients(self, params_grads: Pairs) -> list[Operator]:
        """Appends the optimizer's operators, for z, and the averaging. Returns the optimizer's."""
        main, block = default_main_program(), default_main_program().current_block()
        self.check_all(main, by_name(params_grads))
        average = RunningAverage(ByRate(), 1, 0, check_finite=True)
        with op_role_guard(OPTIMIZE):
            average.begin()
            for parameter, _ in params_grads:
                z, x = (like(parameter, f"schedule_free_{key}", parameter.dtype) for key in "zx")
                residue = state(main.new_name(f"{parameter.name}_schedule_free_residue"), parameter.shape, parameter.dtype)
                average.members.append(AveragedParameter(parameter, x, residue=residue, source=z))
            append_beginning(
                block.append_op,
                [
                    AveragedParameter(one.parameter, kept)
                    for one in average.members
                    for kept in (one.source, one.average)
                    if kept is not None
                ],
            )
        ops = self._optimize_sources(main, average, params_grads)
        with op_role_guard(OPTIMIZE):
            rate = chain(self.optimizer)[-1].rate_of_program(params_grads[0][0].dtype)
            average.append_weight(block.append_op, updated_by(self.optimizer), rate=rate)
            average.append_averages(block.append_op)
            beta = block.create_var(main.new_name("schedule_free_beta"), dtype="float64", shape=[1], stop_gradient=True)
            Constant(self.beta)(beta, block)
            for member in average.members:
                inputs = {"Param": member.average, "Average": member.source, "Weight": beta}
                block.append_op("parameter_average", inputs, {"AverageOut": member.parameter})
        self.averages = AverageSwapper(main, [average], None)
        self.note(params_grads)
        return ops

    def _optimize_sources(self, main: Program, average: RunningAverage, params_grads: Pairs) -> list[Operator]:
        """The optimizer's operators, which change z in place of the parameters. Functions that it calls for a
        parameter, and the names of what it keeps, see the parameter itself."""
        before = {id(op) for block in main.blocks for op in block.ops}
        ops = self.optimizer.apply_gradients(params_grads)
        for op in (op for block in main.blocks for op in block.ops if id(op) not in before):
            for member in average.members:
                if member.source is not None:
                    op.rename(member.parameter.name, member.source.name)
        return ops
