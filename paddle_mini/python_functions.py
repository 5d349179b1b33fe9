# Python functions as kernels of operators: calls, names, and adding such operators to those of the process.
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from . import _core, schemas
from ._core import OpError
from .callsite import raised_at
from .errors import printable_lines

FUNCTION = "python_function"  # the attribute that names the function, for processes that do not have the operator

# Adding calls Python functions, which release the GIL, while it holds a mutex of C++: so a thread that has the GIL must not
# wait for that mutex.
adding = threading.Lock()


def called(what: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a function of the user; OpError with its exception, which is the cause too, and its line."""
    try:
        return function(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a run ends with an error of its own
        import traceback  # only errors need it: import paddle_mini stays fast

        reason = printable_lines("\n".join(_text_of(error).splitlines()[:3]))
        place = raised_at(error)
        if error.__traceback__ is not None:
            error = error.with_traceback(error.__traceback__.tb_next)
            # The local variables are arrays in the memory of the run, which gets other values.
            traceback.clear_frames(error.__traceback__)
        raise OpError(f"{what} raised {type(error).__name__}{': ' + reason if reason else ''}{place}") from error


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # its class is a user's
        return ""


def name_of_function(function: Callable[..., Any]) -> str:
    """The module and the name, as programs state them."""
    return f"{getattr(function, '__module__', None) or '?'}.{getattr(function, '__qualname__', type(function).__name__)}"


def register(item: dict[str, Any], gradient: dict[str, Any] | None) -> None:
    """Adds an operator whose kernel is a Python function, and its gradient, or neither."""
    with adding:
        _core.add_python_operator(item, gradient)
    schemas.operators_were_added()
