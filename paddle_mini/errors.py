# Additions to messages of errors: the nearest name, the operator, the user's line.
from __future__ import annotations

import difflib
from typing import Any, List, Mapping

from . import _core, callsite


def near(name: str, names: Any) -> str:
    """"; did you mean 'x'?" when there is a name like this one."""
    close = difflib.get_close_matches(name, [str(n) for n in names], n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def located(error: _core.Error, op: Mapping[str, Any], callstack: List[str]) -> _core.Error:
    """The error with the operator and the user's line that it is about, unless it has them."""
    message = str(error)
    if "\n  in op " in message:
        return error
    names = [name for _, names in op["outputs"] for name in names]
    where = f"\n  in op {op['type']}" + (f" -> '{names[0]}'" if names else "")
    return type(error)(f"{op['type']}: {message}{where}{callsite.added_at(callstack)}")
