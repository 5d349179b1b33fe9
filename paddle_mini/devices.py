# Devices: how much memory they have in use, how many GPUs there are, and what emulated ones are like.
"""Places, such as CUDAPlace(0), are arguments of executors; this module reports about their devices."""

from __future__ import annotations

import numbers
from typing import NamedTuple

from . import _core
from ._core import ProgramError
from .errors import shown
from .place import Place
from .renamed import show_public

__all__ = ["MemoryUse", "Place", "emulate", "gpu_count", "memory_use"]


class MemoryUse(NamedTuple):
    """Bytes of a device's memory. in_use: of live allocations; reserved: allocated on the device, including those
    cached for the next allocation; peak: the most ever in use; total: that it has.

    Example:
        >>> use = pm.devices.memory_use(pm.EmulatedPlace(0))
        >>> use.in_use <= use.total
        True
    """

    in_use: int
    reserved: int
    peak: int
    total: int


def memory_use(place: Place, forget_peak: bool = False) -> MemoryUse:
    """The memory of a device that is in use. forget_peak: resets the peak afterwards. DeviceError for the CPU, whose
    memory is not counted, and for devices that do not exist.

    place: the device.
    Example:
        >>> pm.devices.emulate(9, memory=1 << 20)
        >>> pm.devices.memory_use(pm.EmulatedPlace(9)).total
        1048576
    """
    use = MemoryUse(**_core.device_memory(place.name))
    if forget_peak:
        _core.forget_peak(place.name)
    return use


def gpu_count() -> int:
    """The number of usable GPUs; `paddle-mini doctor` reports why others are not usable.

    Example:
        >>> place = pm.CUDAPlace(0) if pm.devices.gpu_count() else pm.CPUPlace()
    """
    return _core.gpu_count()


def emulate(
    index: int = 0,
    bandwidth: float | None = None,
    latency: float = 0.0,
    memory: int = 1 << 34,
    staging: int = 1 << 26,
    delays: int | None = None,
    most_delay: float = 50e-6,
) -> None:
    """Makes EmulatedPlace(index) like this, while no program runs there.

    bandwidth: of its link to the host, bytes a second in either direction; None: as fast as memory. latency: seconds that
    every transfer takes besides. memory: bytes that it has. staging: bytes of the host for values that pass to it piece by
    piece. delays: seed of random pauses of up to most_delay seconds before everything that its queues and the host's do:
    what is ordered only by luck shows.
    Example:
        >>> pm.devices.emulate(9, bandwidth=12e9, latency=1e-5, memory=1 << 30)
        >>> pm.Executor(pm.EmulatedPlace(9)).run(fetch_list=[pm.layers.ones([2])])[0]
        array([1., 1.], dtype=float32)
    """
    given = {"index": index, "latency": latency, "memory": memory, "staging": staging, "most_delay": most_delay}
    for name, value in (*given.items(), ("bandwidth", bandwidth or 0.0), ("delays", delays or 0)):
        if not isinstance(value, numbers.Real):
            raise ProgramError(f"{name} is {shown(value)}, it must be a number")
    if bandwidth is not None and not bandwidth > 0:
        raise ProgramError(f"bandwidth is {shown(bandwidth)}, it must be above 0")
    if not latency >= 0 or memory < 0 or staging < 4096:
        raise ProgramError("latency and memory must not be negative, and staging at least 4096 bytes")
    pauses = 0 if delays is None else max(1, round(most_delay * 1e6))
    _core.emulate(index, bandwidth or 0.0, latency, memory, staging, delays or 0, pauses)


show_public(globals())
