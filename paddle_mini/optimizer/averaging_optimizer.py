# AveragingOptimizer: base class of optimizers that keep averages, with the methods to use and save them.
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._core import ProgramError, Scope, SwappedValues
from ..averaging.average_swapper import AverageSwapper
from ..averaging.batch_norm import batch_statistics, leave_frozen, moving_statistics
from ..averaging.scheme import Scheme
from ..averaging.statistics import Statistics
from ..executor import Executor
from ..program import Program
from ..scope import scope_or_global
from ..variable import Parameter, Variable
from .wrapper import OptimizerWrapper, chain

if TYPE_CHECKING:
    from ..io.parameters import Path


class AveragingOptimizer(OptimizerWrapper):
    """An optimizer around another one, with averages to evaluate and save.

    In all methods scope holds the training program's variables, None: the global one; scheme selects which of
    several averages is meant, None: the first.
    """

    def __init__(self, optimizer: Any):
        super().__init__(optimizer)
        self.averages: AverageSwapper | None = None

    def require_new(self) -> None:
        if self.averages is not None:
            raise ProgramError(f"this {type(self).__name__} has its program already; make another one")

    def averaging_values(self, parameter: Parameter | None) -> list[dict[str, Any]]:
        """The averages of a parameter as fields of OptimizerConfig; none if it is not averaged. ProgramError where an object of
        the C library does not have them."""
        raise ProgramError(f"{type(self).__name__}: an object of the C library does not have its average")

    def apply(
        self, exe: Executor, scope: Scope | None = None, scheme: Scheme | None = None, need_restore: bool = True
    ) -> SwappedValues:
        """`with average.apply(exe):` inside, every averaged parameter has its average as value: evaluate or save
        there, and do not train.

        Afterwards the raw values are back bit for bit, also when the body raises or is interrupted; with
        need_restore=False only after restore(). scheme: which of several; None: the first. Before the first averaged
        step the raw values stay, with a warning. Costs a copy of the parameters' memory while it lasts; program() costs
        none. OpError when averages are applied in this scope already.
        """
        return self._made().apply(exe, scope, scheme, need_restore)

    def restore(self, exe: Executor | None = None, scope: Scope | None = None) -> None:
        """Gives the raw values back after apply(need_restore=False); does nothing when none are kept."""
        if self.averages is not None:
            self.averages.restore(scope)

    def apply_program(self, scheme: Scheme | None = None, keep_raw: bool = False) -> Program:
        """A program that overwrites every averaged parameter with its average, for runs without Python. It declares all
        persistable variables of the training program, so it reads that program's parameter file; after reestimate_batch_norm
        it also needs the statistics, which only the scope has. keep_raw: it keeps the raw values beside them, for
        restore_program()."""
        return self._made().overwriting(scheme, keep_raw)

    def restore_program(self, scheme: Scheme | None = None) -> Program:
        """A program that gives the raw values back after apply_program(scheme, keep_raw=True)."""
        return self._made().restoring(scheme)

    def program(self, program: Program, scheme: Scheme | None = None) -> Program:
        """A copy of a program, such as that for testing, which reads averages where the original reads parameters.

        No values are swapped: both run in the same scope, also at the same time, each with its own Executor. Averages
        are computed at the beginning of each run; those that are compensated are single variables and read as
        they are.
        """
        return self._made().bound(program, scheme)

    def statistics(self, scope: Scope | None = None, scheme: Scheme | None = None) -> Statistics:
        """How far an average has come: steps, updates, skipped, effective_length, mean_age, distance to the raw
        values, and whether a warmup still sets its length."""
        return self._made().statistics(scope, scheme)

    def reestimate_batch_norm(
        self,
        exe: Executor,
        program: Program,
        data: Iterable[Mapping[str, Any]],
        scope: Scope | None = None,
        scheme: Scheme | None = None,
    ) -> None:
        """Gives every batch normalization the statistics that the averaged parameters have on these batches, in place
        of the moving ones, wherever averages are used from now on; training continues with its own.

        program: with batch normalizations, for training or testing. data: feeds, batch by batch; the mean over all of
        them is taken. They are kept in the scope, not in checkpoints: call this again after loading.
        """
        made, testing, scope = self._made(), program.clone(for_test=True), scope_or_global(scope)
        made.require_raw(scope)
        leave_frozen(testing, made.main)
        names = moving_statistics(testing)
        made.rebind(scope, scheme, batch_statistics(exe, made.bound(testing, scheme), names, data, scope))

    def save(
        self,
        prefix: Path,
        feed_vars: Sequence[Variable | str],
        fetch_vars: Sequence[Variable | str],
        exe: Executor,
        program: Program | None = None,
        scope: Scope | None = None,
        scheme: Scheme | None = None,
        raw: bool = False,
    ) -> None:
        """io.save_inference_model with the averaged parameters; raw: and with the raw ones, as PREFIX.raw.

        The model records which average of which training it holds: Program.provenance of what is loaded, also
        `python -m paddle_mini show`.
        """
        from ..averaging.export import save_models  # with it, the modules of files would be imported by import paddle_mini

        save_models(self._made(), prefix, feed_vars, fetch_vars, exe, program, scope, scheme, raw)

    def _made(self) -> AverageSwapper:
        if self.averages is None:
            raise ProgramError("there is nothing averaged yet: call minimize() first")
        return self.averages


def averaging_optimizers(minimizers: Iterable[Any]) -> list[AveragingOptimizer]:
    """Those among the optimizers and among what they wrap, each once."""
    found = {id(one): one for minimizer in minimizers for one in chain(minimizer) if isinstance(one, AveragingOptimizer)}
    return list(found.values())
