# Additions to error messages: the most similar name, the operator, the user's line.
from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from . import _core, callsite
from ._core import printable

_LINES, _LINE = 12, 2000  # the limits of a message
_LONGEST = 200  # characters of a name to compare: the cost is the product of the lengths
_MOST = 20
_MOST_COMPARED = 2000  # names


def _text(error: _core.Error) -> str:
    """The printable text of an error, with escaped control characters in names, paths and messages."""
    return _few(map(_bounded, Exception.__str__(error).split("\n")))


def _few(lines: Iterable[str]) -> str:
    """The first lines and the last ones, which locate the error."""
    some = list(lines)
    return "\n".join(some if len(some) <= _LINES else [*some[: _LINES - 6], "  …", *some[-5:]])


def _bounded(line: str) -> str:
    if len(line) > _LINE:
        line = f"{line[: _LINE * 3 // 4]}...{line[-_LINE // 4 :]}"
    return printable(line, 4 * len(line))


_core.Error.__str__ = _text  # type: ignore[assignment]


def shown(value: Any) -> str:
    """A value for messages: its repr() in one line, shortened to the length of a name."""
    return printable(re.sub(r"\n\s*", " ", repr(value)))


def whole(what: str, value: Any, low: int = 1) -> int:
    """The value as an int; ProgramError, which begins with `what`, unless it is an integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < low:
        raise _core.ProgramError(f"{what} is {shown(value)}, it must be an integer, at least {low}")
    return int(value)


def same_letters(name: str, names: Iterable[str]) -> str | None:
    """The name that differs by case and underscores only: leaky_relu for LeakyReLU."""
    letters = _letters(name)
    return next((other for other in names if _letters(other) == letters), None)


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def near(name: str, names: Any, home: str = "", alike: float = 0.6) -> str:
    """ "; did you mean 'x'?" if a similar name exists; home: what is written before it; alike: difflib's ratio, at least."""
    if len(name) > _LONGEST:
        return ""
    import difflib  # only errors need it: import paddle_mini stays fast

    known = [text for text in map(str, islice(names, _MOST_COMPARED)) if len(text) <= _LONGEST]
    close = same_letters(name, known) or next(iter(difflib.get_close_matches(name, known, 1, alike)), None)
    return f"; did you mean '{printable(home + close)}'?" if close else ""


def listed(names: Iterable[Any]) -> str:
    """The names in one line, at most 20 of them."""
    texts = [printable(name) for name in names]
    return ", ".join(texts[:_MOST]) + (f" and {len(texts) - _MOST} more" if len(texts) > _MOST else "")


def printable_lines(text: str) -> str:
    """A message from outside: its non-empty lines, made printable, up to the limit of an error."""
    return _few(printable(line, 500) for line in text.splitlines() if line.strip()) or "no reason is given"


def located(error: _core.Error, op: Mapping[str, Any], callstack: list[str]) -> _core.Error:
    """The error with the operator and the user's line that it is about, unless it has them."""
    message = str(error)
    if "\n  in op " in message:
        return error
    names = [name for _, names in op["outputs"] for name in names]
    kind = printable(op["type"])
    where = f"\n  in op {kind}" + (f" -> '{printable(names[0])}'" if names else "")
    return type(error)(f"{kind}: {message}{where}{callsite.added_at(callstack)}")
