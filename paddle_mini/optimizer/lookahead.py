# Lookahead: parameters that go a part of the way that k steps of an optimizer went.
from __future__ import annotations

from typing import Any

from .._core import ProgramError
from ..averaging.running import RunningAverage, append_beginning
from ..averaging.scheme import Scheme
from ..errors import shown
from ..guards import default_main_program
from ..lr.scheduler import whole
from ..operator import Operator
from ..program import Program
from ..roles import OPTIMIZE, op_role_guard
from .averaging_optimizer import AveragingOptimizer
from .pairs import Pairs, by_name
from .rates import finite
from .wrapper import OptimizerWrapper, averages_are_rounded, chain, is_level_o2, require_dense, require_wide, updated_by


class _Slow(Scheme):
    """The slow parameters: they take the part alpha of the way every time, from the beginning on."""

    plain = True  # the parameters are set to the average, bit for bit

    def __init__(self, alpha: float):
        self.alpha = alpha

    def __repr__(self) -> str:
        return f"Lookahead(alpha={self.alpha!r})"

    def attrs(self, every: int) -> dict[str, Any]:
        # decay is what stays in one step, and every-th steps count
        return {"scheme": "constant", "decay": (1 - self.alpha) ** (1 / every)}


class Lookahead(OptimizerWrapper):
    """Every k steps of the optimizer: slow ← slow + alpha (p − slow), p ← slow; slow begins as p before the first step.

    Zhang et al., "Lookahead Optimizer: k steps forward, 1 step back", NeurIPS 2019. optimizer: any, GradientMerge and
    LossScaling too; what it keeps, such as moments, stays. The slow parameters cost one float a parameter; evaluate
    and save after a multiple of k steps, when the parameters are the slow ones. ProgramError for sparse gradients.
    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.Lookahead(pm.optimizer.SGD(0.1), k=2, alpha=0.5).minimize(w)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> [round(float(exe.run(fetch_list=[w])[0][0]), 3) for run in range(4)]
        [0.9, 0.9, 0.8, 0.8]
    """

    def __init__(self, optimizer: Any, k: int = 5, alpha: float = 0.5):
        super().__init__(optimizer)
        inside = next((one for one in chain(optimizer) if isinstance(one, (AveragingOptimizer, Lookahead))), None)
        if inside is not None:
            advice = "one of them is enough" if isinstance(inside, Lookahead) else "put that around Lookahead instead"
            raise ProgramError(f"Lookahead around {type(inside).__name__}: {advice}")
        if is_level_o2(optimizer):
            raise averages_are_rounded("Lookahead")
        self.k = whole(self, "k", k)
        self.alpha = finite("Lookahead: alpha", alpha, low=0.0)
        if not 0 < self.alpha <= 1:
            raise ProgramError(f"Lookahead: alpha is {shown(alpha)}, it must be above 0 and at most 1")
        self._made = False

    def check(self, program: Program, pairs: Pairs) -> None:
        if self._made:
            raise ProgramError("this Lookahead has its program already; make another one")
        require_dense("Lookahead", pairs)
        require_wide("Lookahead", pairs)

    def apply_gradients(self, params_grads: Pairs) -> list[Operator]:
        """Appends the optimizer's operators and those of the slow parameters. Returns the optimizer's."""
        main, add = default_main_program(), default_main_program().current_block().append_op
        pairs = by_name(params_grads)
        self.check_all(main, pairs)
        slow = RunningAverage(_Slow(self.alpha), self.k, 0, check_finite=False)
        with op_role_guard(OPTIMIZE):
            slow.begin()
            for parameter, _ in pairs:
                slow.add(parameter, False)
            append_beginning(add, slow.members)
        ops = self.optimizer.apply_gradients(params_grads)
        with op_role_guard(OPTIMIZE):
            slow.append_weight(add, updated_by(self.optimizer))
            # 1 where slow moved, else 0
            back = slow.append_second_weight(add, "back", {"scheme": "constant", "decay": 0.0})
            slow.append_averages(add)
            for member in slow.members:
                add(
                    "parameter_average",
                    {"Param": member.average, "Average": member.parameter, "Weight": back},
                    {"AverageOut": member.parameter},
                )
        self._made = True
        self.note(params_grads)
        return ops
