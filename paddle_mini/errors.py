# Additions to messages of errors: the nearest name, the operator, the user's line.
from __future__ import annotations

import difflib
from itertools import islice
from typing import Any, Iterable, List, Mapping

from . import _core, callsite
from ._core import printable

_LONGEST = 200  # characters of a name that may be like another one: comparing takes their product
_MOST = 20
_MOST_COMPARED = 2000  # names


def near(name: str, names: Any) -> str:
    """"; did you mean 'x'?" when there is a name like this one."""
    if len(name) > _LONGEST:
        return ""
    close = difflib.get_close_matches(name, [text for text in map(str, islice(names, _MOST_COMPARED)) if len(text) <= _LONGEST], n=1)
    return f"; did you mean '{printable(close[0])}'?" if close else ""


def listed(names: Iterable[Any]) -> str:
    """The names in one line, at most 20 of them."""
    shown = [printable(name) for name in names]
    return ", ".join(shown[:_MOST]) + (f" and {len(shown) - _MOST} more" if len(shown) > _MOST else "")


def printable_lines(text: str, most: int = 12) -> str:
    """A message from outside: at most `most` of its lines that are not empty, each printable."""
    lines = [printable(line, 500) for line in text.splitlines() if line.strip()]
    return "\n".join(lines[:most]) or "no reason is given"


def located(error: _core.Error, op: Mapping[str, Any], callstack: List[str]) -> _core.Error:
    """The error with the operator and the user's line that it is about, unless it has them."""
    message = str(error)
    if "\n  in op " in message:
        return error
    names = [name for _, names in op["outputs"] for name in names]
    kind = printable(op["type"])
    where = f"\n  in op {kind}" + (f" -> '{printable(names[0])}'" if names else "")
    return type(error)(f"{kind}: {message}{where}{callsite.added_at(callstack)}")
