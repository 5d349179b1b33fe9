# Arguments of NativeOptimizer as the C library takes them; ProgramError for others, which ctypes would change or refuse.
from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from .._core import ProgramError
from ..errors import shown


def serialized(config: Any) -> bytes:
    serialize = getattr(config, "SerializeToString", None)
    if serialize is None:
        raise ProgramError(f"config is {shown(config)}, it must be an OptimizerConfig, as to_config() gives, or its bytes")
    return bytes(serialize())


def bytes_of(what: str, value: Any) -> bytes | None:
    if value is not None and not isinstance(value, (bytes, bytearray, memoryview)):
        raise ProgramError(f"{what} is {shown(value)}, it must be bytes, as state() and snapshots give")
    return None if value is None else bytes(value)


def size_of(what: str, value: Any) -> int:
    # ctypes would pass larger numbers without their upper bits.
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 2**63:
        raise ProgramError(f"{what} is {shown(value)}, it must be an integer, at least 0 and below 2**63")
    return int(value)


def number_of(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ProgramError(f"{what} is {shown(value)}, it must be a number")
    return float(value)
