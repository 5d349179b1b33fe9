# The user's line that adds an operator, kept in op_callstack as PaddlePaddle writes it.
from __future__ import annotations

import contextlib
import linecache
import os
import re
import sys
import warnings
from types import CodeType

from ._core import printable

# contextlib runs the end of a `with` between this package's lines.
_INSIDE = (os.path.dirname(os.path.abspath(__file__)) + os.sep, contextlib.__file__)
INSTALLED = re.compile(rf"{re.escape(os.path.dirname(os.__file__))}/|.*/(site|dist)-packages/")
_FRAME = re.compile(r'\s*File "(?P<path>[^"]*)", line (?P<line>\d+)')


def user_callstack() -> list[str]:
    """The innermost frame outside this package, as two entries: place and code. One frame, because
    the frames around it are this package's, or not related to the operator, and callstacks are
    the largest part of a program's bytes."""
    frame = sys._getframe(1)
    while frame is not None and is_inside(frame.f_code):
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return []
    path, line = frame.f_code.co_filename, frame.f_lineno
    code = linecache.getline(path, line, frame.f_globals).strip()
    return [f'  File "{_short(path)}", line {line}, in {frame.f_code.co_name}', f"    {code}"]


def is_inside(code: CodeType) -> bool:
    """Whether this is code of this package."""
    return code.co_filename.startswith(_INSIDE)


def is_installed(code: CodeType) -> bool:
    """Whether this is code of Python or of an installed package, or made by a dataclass, not of the user's program."""
    path = code.co_filename
    made = path.startswith(("<frozen ", "<__array_function__ ")) or (path == "<string>" and code.co_name == "__init__")
    return made or INSTALLED.match(path) is not None


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the user's line, for which a filter of warnings decides."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and is_inside(frame.f_code):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def place_of(callstack: list[str]) -> str:
    """ "train.py:21", or "" without a callstack."""
    match = next((match for match in map(_FRAME.match, reversed(callstack)) if match), None)
    return printable(f"{match['path']}:{match['line']}") if match else ""


def added_at(callstack: list[str]) -> str:
    """The last line of an error: "\\n  added at train.py:21: y = ...", or ""."""
    place = place_of(callstack)
    if not place:
        return ""
    code = printable(callstack[-1].strip()) if not _FRAME.match(callstack[-1]) else ""
    return f"\n  added at {place}: {code}" if code else f"\n  added at {place}"


def raised_at(error: BaseException) -> str:
    """The last line of an error: "\\n  at train.py:12: rows = open(path)": the user's innermost line, which is outside
    this package and, if present, outside all installed packages; or ""."""
    import traceback  # only errors need it: import paddle_mini stays fast

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith((*_INSIDE, "<"))]
    own = [frame for frame in frames if not INSTALLED.match(frame.filename)]
    if not frames:
        return ""
    last = (own or frames)[-1]
    line = f"at {_short(last.filename)}:{last.lineno}: {last.line}"
    return "" if str(error).endswith(line) else f"\n  {line}"


def _short(path: str) -> str:
    below = os.getcwd() + os.sep
    return path[len(below) :] if path.startswith(below) else path
