# GpuGradients: a trainer's gradients on its GPU, which NCCL adds up with those of the other trainers' GPUs.
"""
The model leaves its gradients on the GPU, in variables of the scope, and NCCL writes their sums into other variables: a sum that
fails leaves the gradients as they were. The optimizer's half divides the sums by the number of contributors. For a step that the
hosts add up, because the coordinator has found no clique for it (coordinator/cliques.py), the gradients are copied.

When a sum fails, this trainer leaves the clique, and Exchange joins again: it loads the state of a trainer that has the whole
sum or, if there is none, arrives again, with an offer for another clique. If several fail one after another, it takes no part in
a further one: the hosts add up.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..._core import Clique as Members
from ..._core import DeviceError, gpu_identity, nccl_version, new_clique_id
from ...place import CUDAPlace
from ...program import Program
from ..job_settings import JobSettings
from ..process_log import ProcessLogger
from ..values import Clique, Gpu, MemberId
from .gradient_memory import GradientMemory
from .host_gradients import Feed, HostGradients, SplitExecutors
from .peer import Peer
from .split_program import SplitProgram

_TRIES = 2
"""Cliques that may fail one after another. The first may be for a trainer that has died, the second one is without it."""
_log = ProcessLogger(__name__)


def gradients_of(executors: SplitExecutors, memory: GradientMemory, own: Peer, settings: JobSettings) -> HostGradients:
    """GpuGradients where the trainer has a GPU and NCCL."""
    if not isinstance(executors.exe.place, CUDAPlace) or not settings.nccl:
        return HostGradients(executors, memory, own)
    version = nccl_version()
    if version is not None:
        return GpuGradients(executors, memory, own, version, settings)
    _log.warning("gradients go through the memory of the host: NCCL 2.14 or a newer one is not there (paddle-mini doctor)")
    return HostGradients(executors, memory, own)


class GpuGradients(HostGradients):
    """version: of NCCL. A sum may take `lease` seconds, after which a silent trainer is lost anyway; connecting a new clique, and
    its first sum, may take `timeout` seconds each."""

    def __init__(self, executors: SplitExecutors, memory: GradientMemory, own: Peer, version: str, settings: JobSettings):
        super().__init__(executors, memory, own)
        self._model, self._flags = _model_that_keeps(executors.split)
        self._dividing, self._sums, self._counts = _divided(executors.split)
        self._place, self._version = executors.exe.place.name, version
        self._seconds, self._connecting = settings.lease, settings.timeout
        self._id, self._offer = b"", b""
        self._members: Members | None = None  # the clique with this id, in NCCL
        self._failures = self._steps_of_host = 0  # one after another
        self._contributors = 0  # to the sums on the GPU; 0: the mean is in the memory of the host

    @cached_property
    def _identity(self) -> str:
        return gpu_identity(self._place)

    @property
    def gpu(self) -> Gpu | None:
        if self._failures >= _TRIES:
            return None
        if not self._id and not self._offer:
            self._offer = new_clique_id()
        return Gpu(self._version, self._identity, self._id, self._offer)

    def compute(self, feed: Feed, fetches: list[str], return_numpy: bool) -> tuple[list[Any], str | None]:
        self._own.gradient_of, self._own.is_in_memory = None, False
        results = self._executors.exe.run(self._model, feed, fetches + self._flags, self._executors.scope, return_numpy)
        values, are_finite = results[: len(fetches)], all(np.asarray(flag).all() for flag in results[len(fetches) :])
        if are_finite or self._executors.split.scales:
            return values, None
        self._bring()
        return values, self._not_finite()

    def give_to_host(self) -> bool:
        self._leave()
        self._contributors = 0
        self._steps_of_host += 1
        if self._steps_of_host == 2:
            _log.info("gradients go through the memory of the host: NCCL needs a GPU for each trainer, and one version")
        return self._bring()

    def _bring(self) -> bool:
        """Copies the gradient into the memory. Returns whether it was not there."""
        if self._own.is_in_memory:
            return False
        self._write([self._executors.scope.get(name) for name in self.memory.gradient.buffer.views])
        self._own.is_in_memory = True
        return True

    def add_up(self, clique: Clique, me: MemberId, contributors: int, takes_part: bool) -> bool:
        try:
            seconds = self._seconds
            if self._id != clique.id:
                self._join(clique, me)
                seconds = self._connecting  # NCCL connects some GPUs only when they add up
            assert self._members is not None
            self._members.add_up(self._executors.scope, list(self._sums.items()), takes_part, seconds)
        except DeviceError as error:
            self._failed(error)
            return False
        self._contributors, self._failures, self._steps_of_host = contributors, 0, 0
        return True

    def optimize(self, late: list[str], return_numpy: bool) -> list[Any]:
        if not self._contributors:
            return super().optimize(late, return_numpy)
        counts = {name: np.full(1, self._contributors, dtype) for name, dtype in self._counts.items()}
        return self._executors.optimizing.run(self._dividing, counts, late, self._executors.scope, return_numpy)

    def _join(self, clique: Clique, me: MemberId) -> None:
        self._leave()
        if clique.id == self._offer:
            self._offer = b""
        rank, size = clique.members.index(me), len(clique.members)
        self._members = Members(self._place, clique.id, rank, size, self._connecting)
        self._id = clique.id

    def _leave(self) -> None:
        """All have arrived at a step, so no other one needs this trainer for the sums of the step before."""
        self._id, self._members = b"", None

    def _failed(self, error: DeviceError) -> None:
        self._leave()
        self._failures += 1
        last = self._failures == _TRIES
        _log.warning("%s%s", error, ": gradients go through the memory of the host from now on" if last else "")


def _model_that_keeps(split: SplitProgram) -> tuple[Program, list[str]]:
    """The model whose gradients stay in the scope, and the names of what says whether they are finite."""
    model, flags = split.model.clone(), []
    block = model.global_block()
    for dtype in sorted({gradient.dtype for gradient in split.gradients.values()}):
        names = [gradient.name for gradient in split.gradients.values() if gradient.dtype == dtype]
        flags.append(model.new_name("all_finite"))
        block.append_op("all_finite", {"X": names}, {"Out": flags[-1]})
    for gradient in split.gradients.values():
        block.var(gradient.name).persistable = True
    return model, flags


class _Divided(NamedTuple):
    """The optimizer's half that begins with sums in the scope. sums: their names, by gradient; counts: of the feeds by which
    they are divided, with their dtypes."""

    program: Program
    sums: dict[str, str]
    counts: dict[str, str]


def _divided(split: SplitProgram) -> _Divided:
    program, sums, counts = split.optimizing.clone(), {}, {}
    block = program.global_block()
    for gradient in split.gradients.values():
        dtype = gradient.dtype
        if dtype not in counts:
            counts[dtype] = program.new_name("contributors")
            block.create_var(counts[dtype], shape=[1], dtype=dtype, need_check_feed=True)
        name = sums[gradient.name] = program.new_name(f"{gradient.name}@SUM")
        block.create_var(name, shape=gradient.shape, dtype=dtype, persistable=True)
        block.prepend_op("elementwise_div", {"X": name, "Y": counts[dtype]}, {"Out": gradient.name})
    return _Divided(program, sums, {name: dtype for dtype, name in counts.items()})
