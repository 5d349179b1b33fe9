# DeltaStep: the step of modes delta and elastic: runs the whole program and exchanges differences with the servers.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ..._core import ProgramError, Scope, printable
from ...executor import Executor
from ...optimizer.averaging_optimizer import averaging_optimizers
from ...optimizer.config import new_config
from ...optimizer.gradient_merge import GradientMerge
from ...optimizer.wrapper import chain
from ...program import Program
from ...variable import Parameter
from ..errors import NotFinite
from ..shards import ParameterInfo
from .gradient_step import fixed
from .remote_parameters import RemoteParameter
from .trainer_process import TrainerProcess
from .transpile import optimized_at, require_float, require_trained, written_names


def remote_parameters(main: Program) -> list[RemoteParameter]:
    """The parameters on the servers: those that an optimizer changes, each with its averages, and the constant ones.
    ProgramError for a table, whose rows would have to be compared one by one."""
    block, found = main.global_block(), []
    require_trained(main)
    for name, (minimizer, gradient_name) in sorted(main.minimizers.items()):
        parameter, gradient = block.var(name), block.find_var(gradient_name)
        if gradient is not None and gradient.kind == dtypes.SELECTED_ROWS:
            raise ProgramError(
                f"'{printable(name)}' is a table with a sparse gradient: modes delta and elastic compare whole "
                "parameters; make the embedding with is_sparse=False, or take mode async or sync"
            )
        assert isinstance(parameter, Parameter)
        require_float(main, parameter)
        averaging = _averaging(main, minimizer, parameter)
        config = new_config(
            {"optimizer": "SGD", "lr_policy": "Const", "const_lr": {"learning_rate": 0.0}, "averaging": averaging}
        )
        info = ParameterInfo(name, parameter.shape, parameter.dtype)
        found.append(RemoteParameter(info, config.SerializeToString(), bool(averaging)))
    written = written_names(main)  # statistics of batch normalization, among others: they stay local
    rest = sorted(var.name for var in main.all_parameters() if var.name not in main.minimizers and var.name not in written)
    return found + fixed(main, rest)


def _averaging(main: Program, minimizer: Any, parameter: Parameter) -> list[dict[str, Any]]:
    """The averages that servers keep of a parameter; ProgramError where they can't."""
    try:
        found = [values for one in averaging_optimizers([minimizer]) for values in one.averaging_values(parameter)]
        if found and any(isinstance(one, GradientMerge) for one in chain(minimizer)):
            raise ProgramError(
                "servers average after each exchange, also where GradientMerge changes nothing: take local_steps in its place"
            )
        return found
    except ProgramError as error:
        raise ProgramError(f"{error}{optimized_at(main, parameter.name)}") from None


class DeltaStep:
    """mode delta: the servers' values, the center, move by 1 / trainers of the local change, and the trainer continues
    from the center. mode elastic: both move towards each other by alpha of their difference (Zhang, Choromanska & LeCun
    2015)."""

    def __init__(self, process: TrainerProcess, main: Program, exe: Executor, scope: Scope):
        self._process, self._main, self._exe, self._scope = process, main, exe, scope
        self._names = [name for name, one in process.parameters.by_name.items() if not one.fixed]
        self._alpha = process.settings.server_settings().elastic_alpha if process.settings.mode == "elastic" else None
        self._base: dict[str, np.ndarray] | None = None
        self._since, self._step = 0, 0
        kept = {var.name for var in main.list_vars() if var.persistable and var.kind == dtypes.TENSOR}
        self._others = sorted(kept & written_names(main) - set(self._names))
        self._before: dict[str, np.ndarray] = {}  # the values of the others after the last exchange

    def run(self, feed: Mapping[str, Any], fetch_list: Sequence[Any], return_numpy: bool) -> list[Any]:
        if self._base is None:
            self._take(self._center())
        results = self._exe.run(self._main, feed, fetch_list, self._scope, return_numpy)
        self._since += 1
        if self._since == self._process.settings.local_steps:
            self._exchange()
        return results

    def _exchange(self) -> None:
        local = {name: self._scope.get(name) for name in self._names}
        base = self._base if self._alpha is None else self._center()
        assert base is not None
        delta = {name: local[name] - base[name] for name in self._names}
        try:
            self._process.stage(delta, self._step, self._process.pass_number)
        except NotFinite:
            self._go_back()
            raise
        self._step, self._since = self._step + 1, 0
        if self._alpha is None:
            self._base = None  # if this fails, it is not known whether the difference was added: it must not be added again
            self._take(self._center())
        else:
            self._process.settle()
            self._take({name: local[name] - self._alpha * delta[name] for name in self._names})

    def _center(self) -> dict[str, np.ndarray]:
        """The servers' values, after the staged differences."""
        return self._process.exchange(self._names, {}).values()

    def _take(self, values: dict[str, np.ndarray]) -> None:
        self._set(values)
        self._base = values
        self._before = {name: self._scope.get(name) for name in self._others if name in self._scope}

    def _set(self, values: Mapping[str, np.ndarray]) -> None:
        for name, value in values.items():
            self._scope.set(name, value)

    def _go_back(self) -> None:
        """Discards the steps since the last exchange: what the optimizer keeps is not finite either."""
        self._since = 0
        self._set({**(self._base or {}), **self._before})

    def flush(self) -> None:
        """Does nothing: steps since the last exchange are local."""

    def settle(self) -> None:
        """Exchanges the changes since the last exchange, so that none is lost."""
        if self._since:
            self._exchange()

    def begin_again(self) -> None:
        """The next step begins with the servers' values: those in the scope may have changes of others, which the next
        difference would add again."""
        self._base = None
