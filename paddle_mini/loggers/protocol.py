# The protocol of loggers.
from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from .._core import ProgramError, as_array, printable
from ..errors import shown
from ..feeds import bfloat16_values


@runtime_checkable
class Logger(Protocol):
    """An object that keeps figures by name, one set for each step.

    Example:
        >>> class Print:
        ...     def log(self, values, step):
        ...         print(step, values)
        ...     def close(self):
        ...         pass
        >>> isinstance(Print(), pm.loggers.Logger)
        True
    """

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Keeps the figures of a step. A figure is a number, or an array of one element, such as a fetched loss; uint16 are the
        bits of bfloat16."""

    def close(self) -> None:
        """Writes what is not written yet; a second call has no effect."""


def figures(values: Mapping[str, Any], step: Any) -> tuple[dict[str, float], int]:
    """The arguments of log as floats and an int; ProgramError for any other value."""
    if not isinstance(values, Mapping):
        raise ProgramError(f"log: values is {shown(values)}, it must be a dict of figures by name, such as {{'loss': 0.5}}")
    numbers = {}
    for name, value in values.items():
        if not isinstance(name, str) or not name.isprintable() or not name or name == "step":
            raise ProgramError(f"log: {shown(name)} is not a name of a figure; names are printable text other than 'step'")
        array = bfloat16_values(as_array(value, f"log: '{printable(name)}'", bits=False))
        if array.size != 1 or array.dtype.kind not in "fiub":
            raise ProgramError(f"log: '{printable(name)}' is {shown(value)}, not a number")
        numbers[name] = float(array.reshape(())[()])
    try:
        return numbers, operator.index(step)
    except TypeError:
        raise ProgramError(f"log: step is {shown(step)}, not an integer") from None
