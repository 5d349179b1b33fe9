# GradientStep: the step of modes async and sync, where servers optimize: pull, forward and backward, push.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._core import Scope
from ...executor import Executor
from ...optimizer.config import new_config
from ...program import Program
from ...scope import LoDTensor, SelectedRows
from ...variable import name_of
from ..errors import NotFinite
from ..shards import ParameterInfo
from .remote_parameters import Gradient, RemoteParameter
from .table_rows import TableRows
from .trainer_process import TrainerProcess
from .transpile import Trained, Transpiled


def remote_parameters(transpiled: Transpiled) -> list[RemoteParameter]:
    """The parameters on the servers: those that they train, and the constant ones, of which all trainers take the
    initialiser's values."""
    found = []
    for one in transpiled.trained:
        info, config = ParameterInfo(one.name, one.shape, one.dtype, one.sparse, one.whole), one.config
        if not one.sparse:
            config.ClearField("row_width")  # blocks end anywhere in a row
        found.append(RemoteParameter(info, config.SerializeToString(), bool(config.averaging)))
    return found + fixed(transpiled.program, transpiled.frozen)


def fixed(program: Program, names: Sequence[str]) -> list[RemoteParameter]:
    """Constant parameters; those of types that servers do not support are local to each trainer."""
    config = new_config({"optimizer": "SGD", "lr_policy": "Const", "const_lr": {"learning_rate": 0.0}})
    found = [program.global_block().var(name) for name in names]
    return [
        RemoteParameter(ParameterInfo(var.name, var.shape, var.dtype), config.SerializeToString(), fixed=True)
        for var in found
        if var.dtype in ("float32", "float64")
    ]


class _Pushed(NamedTuple):
    """The last push of a trainer. incarnation: of the trainer at that time."""

    values: dict[str, Gradient]
    step: int
    pass_number: int
    incarnation: int


class GradientStep:
    """sync: a step begins after the servers have applied all gradients of the previous one; async: at once."""

    def __init__(self, process: TrainerProcess, transpiled: Transpiled, exe: Executor, scope: Scope):
        self._process, self._exe, self._scope = process, exe, scope
        self._program, self._trained = transpiled.program, transpiled.trained
        self._sync = process.settings.mode == "sync"
        self._tables = {one.name: TableRows(one, exe) for one in self._trained if one.ids is not None}
        self._dense = [one.name for one in self._trained if one.name not in self._tables]
        self._last = _Pushed({}, -1, 0, -1)

    def run(self, feed: Mapping[str, Any], fetch_list: Sequence[Any], return_numpy: bool) -> list[Any]:
        self._pull(feed)
        fetches = [name_of(item) for item in fetch_list]
        gradients = [one.gradient for one in self._trained]
        results = self._exe.run(self._program, feed, fetches + gradients, self._scope, return_numpy)
        # Restarted servers may be behind; all trainers make the step of the most advanced server.
        step = max(self._process.parameters.versions) if self._sync else self._last.step + 1
        values = {one.name: _gradient(one, result) for one, result in zip(self._trained, results[len(fetches) :])}
        before = self._last
        self._last = _Pushed(values, step, self._process.pass_number, self._process.membership.incarnation)
        try:
            self._process.push(values, step, self._last.pass_number)
        except NotFinite:  # nothing was sent
            self._last = before
            raise
        return results[: len(fetches)]

    def _pull(self, feed: Mapping[str, Any]) -> None:
        sources = {table.source: table for table in self._tables.values()}
        found = {source: table.rows_of(feed) for source, table in sources.items()}
        rows = {name: found[table.source] for name, table in self._tables.items()}
        values, tables = self._pull_next(self._dense, rows)
        for name, value in values.items():
            self._scope.set(name, value)
        for name, (numbers, some) in tables.items():
            self._tables[name].write(self._scope, numbers, some)

    def _pull_next(self, names: Sequence[str], rows: Mapping[str, np.ndarray]) -> Any:
        """In sync mode waits for the result of the last push, unless the others continued without this trainer
        since."""
        if not self._sync or self._last.incarnation != self._process.membership.incarnation:
            return self._process.pull(names, rows)
        return self._process.pull(names, rows, self._last.step + 1, again=self._push_again)

    def _push_again(self, servers: Sequence[int]) -> None:
        self._process.push(self._last.values, self._last.step, self._last.pass_number, again=servers)

    def settle(self) -> None:
        """Returns when all pushes are applied, so that nothing is lost when this trainer leaves."""
        self._pull_next([], {})


def _gradient(one: Trained, result: Any) -> Gradient:
    if one.sparse:
        assert isinstance(result, SelectedRows)
        return np.ascontiguousarray(result.rows, np.int64), np.ascontiguousarray(result.values)
    value = result.array if isinstance(result, LoDTensor) else result
    return np.asarray(value).reshape(one.shape)
