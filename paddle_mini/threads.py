# The number of threads that operators use on the CPU.
from __future__ import annotations

import numbers

from . import _core
from ._core import ProgramError
from .errors import shown

MOST = 1024


def num_threads() -> int:
    """The number of threads of executors that have none of their own.

    It is what `set_num_threads` was given, else the environment variable PM_NUM_THREADS, else the number of CPUs that
    this process may use (its affinity mask and the CPU quota of its container). Raises ProgramError if PM_NUM_THREADS
    is not an integer from 1 to 1024.

    >>> pm.num_threads() >= 1
    True
    """
    return _core.num_threads()


def set_num_threads(threads: int) -> None:
    """Sets the number of threads of all executors that have none of their own, from their next run on.

    threads: an integer from 1 to 1024; anything else is a ProgramError. Programs that run at the same time share the
    threads. Results have the same bits for any number.

    >>> pm.set_num_threads(2)
    >>> pm.num_threads()
    2
    """
    _core.set_num_threads(whole_threads(threads))


def whole_threads(threads: object) -> int:
    whole = isinstance(threads, numbers.Integral) and not isinstance(threads, bool)
    if not whole or not 1 <= threads <= MOST:  # type: ignore[operator]
        raise ProgramError(f"the number of threads is {shown(threads)}, it must be an integer from 1 to {MOST}")
    return int(threads)  # type: ignore[call-overload]
