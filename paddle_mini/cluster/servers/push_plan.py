# PushPlan: the work of all pushes with the same blocks on a server, prepared once, so that a push takes few calls.
from __future__ import annotations

import ctypes
from collections.abc import Mapping

from ..._core import PushedBlocks
from ...optimizer.native_library import failure, load_library
from ..errors import ClusterError
from ..protocol import Push
from ..values import BlockKey
from ..wire import Arrays
from .parameter_shard import ParameterShard, named, translated

_KEPT = 128
"""Plans, as many as messages.py keeps of the repeated parts of headers."""
_FUNCTIONS = "paddle_update_parameter", "paddle_update_parameter_rows", "paddle_optimizer_get_rows"


class PushPlan:
    """The blocks that such pushes update, those that their replies have, and the tables of which they have rows."""

    def __init__(self, shards: Mapping[BlockKey, ParameterShard], request: Push):
        self.blocks, self.wanted, self.rows = request.blocks, request.wanted, request.rows
        self._pushed, self._wanted, self._tables = (named(shards, keys) for keys in (self.blocks, self.wanted, self.rows))
        library = load_library()
        update, update_rows, get_rows = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in _FUNCTIONS)
        held = ([one.held() for one in some] for some in (self._pushed, self._wanted, self._tables))
        self._native = PushedBlocks(update, update_rows, get_rows, *held)
        # The order in which the blocks are updated.
        self._order = sorted(self._pushed, key=lambda shard: not shard.info.sparse)

    def fits(self, arrays: Arrays) -> bool:
        """Whether the arrays are those of such a push, and all their rows are in the blocks."""
        return self._native.fits(arrays)

    def apply(self, arrays: Arrays, pass_number: int) -> None:
        """One step of each block's optimizer, with arrays that fit."""
        for shard in self._pushed:
            shard.set_pass(pass_number)
        done = self._native.apply(arrays)
        if done >= 0:
            error = translated(self._order[done], failure())
            raise ClusterError(f"{error}; {done} of {len(self._order)} blocks were changed")

    def read(self, arrays: Arrays, memory: memoryview | None) -> Arrays:
        """Copies of the values for the reply; the large ones are in `memory`, as pack_frames() lays them out, if they fit."""
        found = self._native.read(arrays, memory)
        if found is None:
            raise translated(self._tables[0], failure())
        return found


class PushPlans:
    """The plans of a server, by the lists of blocks, which messages.py decodes once."""

    def __init__(self) -> None:
        self._kept: dict[int, PushPlan] = {}

    def of(self, shards: Mapping[BlockKey, ParameterShard], request: Push) -> PushPlan | None:
        """None for blocks that the server does not have."""
        blocks, plan = request.blocks, self._kept.get(id(request.blocks))
        if plan is not None and (plan.blocks is blocks and plan.wanted is request.wanted and plan.rows is request.rows):
            return plan
        try:
            plan = PushPlan(shards, request)
        except ClusterError:
            return None
        while len(self._kept) >= _KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[id(request.blocks)] = plan
        return plan

    def clear(self) -> None:
        """The blocks have changed."""
        self._kept.clear()
