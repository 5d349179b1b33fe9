# Arguments of another kind: a call that fails for one gets an error that names it, and says what was given and expected.
# Annotations are read only after a call failed, so that correct calls cost nothing, and values that work although no
# annotation tells it still work. Flags, and the numbers that constructors keep, are checked before: any object is true.
from __future__ import annotations

import functools
import inspect
import numbers
import sys
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, TracebackType
from typing import Any, TypeVar

from ._core import Error, ProgramError, printable
from .callsite import is_inside, is_installed
from .errors import shown
from .transaction import replace_function, transaction

F = TypeVar("F", bound=Callable[..., Any])

_DONE = "_explains_arguments"  # the mark of a wrapped function

# Layers and runs call these so often that a wrapper would be felt; they check their arguments themselves.
_OFTEN_CALLED = frozenset(["Block", "Operator", "Parameter", "Variable", "new_name", "run"])

_EXPLAINED: set[type] = set()  # the classes whose methods are wrapped

Plain = dict[str, tuple[int, str]]  # by parameter: its position, and its kind
_NUMBERS = ("int", "float", "int | None", "float | None")

# The errors of Python, NumPy and the bindings for a value of a wrong kind.
_RAW = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, MemoryError, AssertionError, RuntimeError)


def explained(function: F) -> F:
    """Wraps a function: where a call from outside this package fails in the package with an error of Python or NumPy, and an
    argument does not fit its annotation, the error is a ProgramError about that argument. It is the outermost wrapper."""
    flags: Plain | None = None
    kept: Plain = {}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal flags, kept
        if flags is None:
            kept = _plain(function, *_NUMBERS) if function.__name__ == "__init__" else {}
            flags = _plain(function, "bool")
        if flags:
            _check(flags, function, args, kwargs)
        try:
            if not kept:
                return function(*args, **kwargs)
            with transaction():
                function(*args, **kwargs)
                _check(kept, function, args, kwargs)  # after what the constructor itself knows about them
        except _RAW as error:
            if isinstance(error, Error) or is_inside(sys._getframe(1).f_code) or not _unexpected(error):
                raise
            message = _about(function, args, kwargs)
            if message:
                raise ProgramError(message) from error
            if kwargs and isinstance(error, TypeError):
                _require_names(function, args, kwargs)
            raise

    setattr(call, _DONE, True)
    return call  # type: ignore[return-value]


def _plain(function: Any, *kinds: str) -> Plain:
    """The position and the kind of each parameter of these kinds."""
    code = inspect.unwrap(function).__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    annotations = function.__annotations__
    return {
        name: (position if position < code.co_argcount else sys.maxsize, annotations[name].removesuffix(" | None"))
        for position, name in enumerate(names)
        if annotations.get(name) in kinds
    }


def _check(plain: Plain, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    for name, (position, kind) in plain.items():
        value = kwargs[name] if name in kwargs else args[position] if position < len(args) else None
        if value is not None and value is not True and value is not False and not _is_plain(value, kind):
            raise ProgramError(_about(function, args, kwargs, name))


def _is_plain(value: Any, kind: str) -> bool:
    """Also an array of one element."""
    if type(value).__module__ == "numpy" and getattr(value, "size", 0) == 1:
        value = value.item()
    if kind == "bool":
        return isinstance(value, int) and value in (0, 1)
    return isinstance(value, numbers.Integral if kind == "int" else numbers.Real)


def flag(what: str, value: Any) -> bool:
    """The value as a bool; ProgramError, which begins with `what`, unless it is one, or 0 or 1."""
    if value is not True and value is not False and not _is_plain(value, "bool"):
        raise ProgramError(f"{what} is {shown(value)}, it must be True or False")
    return bool(value)


def make_explained(namespace: dict[str, Any], names: Iterable[str]) -> None:
    """Wraps those of these functions of a module that have arguments, and such public methods of these classes."""
    for name in names:
        value: Any = namespace.get(name)  # some are imported when they are used
        if inspect.isclass(value):
            if name not in _OFTEN_CALLED:
                _explain_methods(value)
        elif _has_arguments(value, 0):
            replace_function(namespace, name, explained(value))


def _explain_methods(public: type) -> None:
    """Also methods that it inherits from a class of this package."""
    own = [kind for kind in public.__mro__ if kind.__module__.startswith(f"{__package__}.") and kind not in _EXPLAINED]
    _EXPLAINED.update(own)
    for kind, name, method in [(one, *item) for one in own for item in vars(one).items()]:
        if name in _OFTEN_CALLED or (name.startswith("_") and name not in ("__init__", "__call__")):
            continue
        if _has_arguments(method, 1):
            setattr(kind, name, explained(method))
        elif isinstance(method, staticmethod) and _has_arguments(method.__func__, 0):
            setattr(kind, name, staticmethod(explained(method.__func__)))


def _has_arguments(function: Any, more_than: int) -> bool:
    """Whether it is a function of Python that is not wrapped yet, with more parameters than `more_than`."""
    if not inspect.isfunction(function) or _DONE in function.__dict__:
        return False
    code = inspect.unwrap(function).__code__
    return code.co_argcount + code.co_kwonlyargcount > more_than or code.co_flags & inspect.CO_VARARGS != 0


def _unexpected(error: BaseException) -> bool:
    """Whether no function of the user's was called, and no `raise` of this package gave its own message."""
    last: TracebackType | None = None
    trace = error.__traceback__
    while trace is not None:
        last = trace
        code = trace.tb_frame.f_code
        if not is_inside(code) and not is_installed(code):
            return False
        trace = trace.tb_next
    return last is None or not _gave_message(last.tb_frame.f_code, last.tb_lasti)


def _gave_message(code: CodeType, position: int) -> bool:
    """Whether a `raise` of this package is there; that of __getattr__ is not about arguments."""
    import dis  # only errors need it: import paddle_mini stays fast

    return is_inside(code) and code.co_name != "__getattr__" and dis.opname[code.co_code[position]] == "RAISE_VARARGS"


def _require_names(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """TypeError for the first keyword that the function does not have."""
    from .renamed import unknown_argument  # which imports this

    parameters = inspect.signature(function).parameters
    unknown = [name for name in kwargs if name not in parameters]
    if unknown and not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        raise unknown_argument(_name_of(function, args), unknown[0], parameters) from None


def _name_of(function: Any, args: tuple[Any, ...]) -> str:
    """The name of a function, and of the class for its constructor."""
    name: str = function.__qualname__
    return type(args[0]).__name__ if name.endswith(".__init__") else name


def _about(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], only: str = "") -> str:
    """The message about the argument `only`, or about the first one that does not fit its annotation; "" if all fit."""
    from .annotations import expected, fits, meaning  # only errors need them

    try:
        signature = inspect.signature(function)
        given = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return ""
    name = _name_of(function, args)
    for parameter, value in given.items():
        annotation = meaning(signature.parameters[parameter], function)
        if parameter == only or not (only or fits(value, annotation)):
            return f"{printable(name)}: {parameter} is {shown(value)}, it must be {expected(annotation, value)}"
    return ""
