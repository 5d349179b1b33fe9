# check_finite: a debug mode that refuses NaN and infinities where they appear first.
from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any

from .. import _core
from .._core import ProgramError
from ..errors import shown
from .scoped import Scoped

_RUN_LATER = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)


class FiniteCheck(Scoped, ContextDecorator):
    """Result of pm.check_finite()."""

    def __init__(self, infinities: bool):
        self._infinities, self._core = infinities, _core.FiniteCheck(infinities)
        self._expect_with("pm.check_finite()")

    def __enter__(self) -> None:
        self._entered()
        self._core.start()

    def __exit__(self, *exception: object) -> None:
        self._core.stop()

    def __call__(self, function: Callable[..., Any]) -> Any:
        self._entered()
        if any(runs_later(function) for runs_later in _RUN_LATER):
            raise ProgramError(
                f"pm.check_finite(): {shown(getattr(function, '__name__', function))} is a generator or a coroutine, which runs "
                "after the call has returned: write with pm.check_finite(): inside it"
            )
        return super().__call__(function)

    def _recreate_cm(self) -> FiniteCheck:
        return FiniteCheck(self._infinities)  # one for each call of the decorated function


def check_finite(infinities: bool = True) -> FiniteCheck:
    """A context manager; a call without `with` has no effect, and a warning says so. Inside, every run of every executor checks
    the float outputs of each operator after it. The first one that holds NaN, or an infinity unless `infinities` is False, is an
    OpError with the operator, the variable, the user's line, and the number of the run among those of this program in its scope.
    The scope is then as it was before the run.

    A run reads each output once more and keeps a copy of each persistable variable that it changes; on a device it also copies
    the outputs to the host and waits for each operator. Outside, runs cost what they cost before. One check at a time:
    ProgramError inside another one. Operators that are meant to find NaN, such as those of LossScaling, need training without it.
    Example:
        >>> y = pm.layers.log(pm.layers.data("x", [-1, 2]))
        >>> with pm.check_finite():  # with zeros in x, run would raise an OpError that names log
        ...     out = pm.Executor().run(feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y])
    """
    return FiniteCheck(infinities)
