# Names of other frameworks. Those of PaddlePaddle 2.x are accepted where they mean the same, by the tables of
# paddle2_names.py; all others are answered with the right name, for PyTorch and Keras by framework_names.py.
from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, TypeVar

from .arguments import make_explained
from .callsite import is_inside
from .errors import near, same_letters
from .framework_names import ARGUMENT_HINTS, HINTS
from .paddle2_names import ARGUMENTS, DIFFERENT_ARGUMENTS, MODULES, OBJECTS, OF_MODULES, WITHOUT
from .transaction import replace_function

F = TypeVar("F", bound=Callable[..., Any])
K = TypeVar("K", bound=type)


def other_names(function: str, parameters: Iterable[str]) -> dict[str, str]:
    """Other names for the parameters of a function, each with the parameter that it means."""
    own = set(parameters)
    return {
        other: name
        for other, name, functions in ARGUMENTS
        if name in own and other not in own and (not functions or function in functions.split())
    }


def takes_other_names(function: F) -> F:
    """Wraps a function so that it also takes the other names of its arguments; TypeError with advice for a keyword that
    it does not have. Errors of a constructor, which a class may inherit, give the class of the object."""

    @functools.cache  # at the first call with keywords: an import would take longer by the signatures of all layers
    def known() -> dict[str, None] | None:
        parameters = inspect.signature(function).parameters.values()
        return None if any(one.kind is one.VAR_KEYWORD for one in parameters) else {one.name: None for one in parameters}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        own = known() if kwargs else None
        if own is not None and not kwargs.keys() <= own.keys():
            name = function.__name__
            kwargs = renamed(type(args[0]).__name__ if name == "__init__" else name, kwargs, own)
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def renamed(function: str, kwargs: dict[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """The arguments under the names that the function has, which are `known`; TypeError with advice for another one."""
    known = {name: None for name in known}
    others = other_names(function, known)
    result: dict[str, Any] = {}
    for name, value in kwargs.items():
        meant = name if name in known else others.get(name)
        if meant is None:
            raise unknown_argument(function, name, known)
        if meant in result or (meant != name and meant in kwargs):
            raise TypeError(f"{function}() got both '{meant}' and '{name}', which mean the same")
        result[meant] = value
    return result


def unknown_argument(function: str, name: str, known: Iterable[str]) -> TypeError:
    """The error for a keyword that a function with these parameters lacks."""
    own, others = [one for one in known if one != "self"], other_names(function, known)
    advice = DIFFERENT_ARGUMENTS.get((function, name)) or DIFFERENT_ARGUMENTS.get(("", name))
    advice = advice or next((text for other, here, text in ARGUMENT_HINTS if other == name and here in own), None)
    advice = advice or (f"it is {others[name]}" if name in others else None)
    hint = f"; {advice}" if advice else near(name, [*own, *others]) or f"; it has {', '.join(own) or 'none'}"
    return TypeError(f"{function}() has no argument '{name}'{hint}")


def make_take_other_names(namespace: dict[str, Any], names: Iterable[str]) -> None:
    """Wraps these functions of a module; classes in it stay as they are."""
    for name in names:
        if inspect.isfunction(namespace[name]):
            replace_function(namespace, name, takes_other_names(namespace[name]))


def make_method_take_other_names(kind: type, name: str) -> None:
    """Wraps this method of a class."""
    setattr(kind, name, takes_other_names(vars(kind)[name]))


class OtherNames:
    """A module of PaddlePaddle 2.x, such as static or nn.functional, with what has the same meaning here."""

    def __init__(self, path: str):
        self._path = path

    def __getattr__(self, name: str) -> Any:
        return found(f"{self._path}.{name}")

    def __reduce__(self) -> Any:
        """A copy asks for names before it has its path."""
        return type(self), (self._path,)

    def __dir__(self) -> list[str]:
        begin = self._path + "."
        return sorted({path[len(begin) :].split(".")[0] for path in (*MODULES, *OBJECTS) if path.startswith(begin)})

    def __repr__(self) -> str:
        return f"<PaddlePaddle 2's names in {self._path}>"


def found(path: str) -> Any:
    """The object for a path below paddle; AttributeError with advice where nothing means the same."""
    if path in MODULES:
        return OtherNames(path)
    here = OBJECTS.get(path)
    if here is not None:
        home, _, name = here.rpartition(".")
        return getattr(_package(home), name)
    home, dot, name = path.rpartition(".")
    advice = WITHOUT.get(path) or _advice("", name)
    known = (*_package("").__all__, *MODULES, *OBJECTS)
    siblings = [other.removeprefix(home + dot) for other in known if other.startswith(home + dot)]
    hint = f"; {advice}" if advice else near(name, [other for other in siblings if "." not in other], home + dot, _SPELLED)
    if not hint and home in OF_MODULES:
        hint = f"; {OF_MODULES[home]}"
    raise AttributeError(f"paddle_mini has no '{path}'{hint}")


_BELOW = f"{__package__}."
# How alike a misspelled name is: names of other frameworks, such as remainder and Trainer, are less.
_SPELLED = 0.78

# Where names are looked for that another module or object lacks, first the most frequent.
_HOMES = "layers optimizer training lr data io clip regularizer initializer averaging loggers amp".split()


def _advice(home: str, name: str) -> str | None:
    """Advice for a name that `home`, a key of HINTS, lacks; None if nothing here is like it."""
    if name.startswith("_"):  # tools ask for such names often: whether there is one, not what it is
        return None
    if home and name in HINTS.get(home, {}):
        return f"here: {HINTS[home][name]}"
    if home[:1].isupper():  # a class
        here = same_letters(name, _package("layers").__all__) if home == "Variable" else None
        return here and f"here: layers.{here}(x, ...)"
    hints = [HINTS[other] for other in ("", *_HOMES) if other in HINTS]
    exact = (f"here: {known[name]}" for known in hints if name in known)
    found = ((other, same_letters(name, _package(other).__all__)) for other in ([home] if home in _HOMES else []) + _HOMES)
    there = (f"it is {other}.{here}" for other, here in found if here)
    alike = (f"here: {known[other]}" for known in hints if (other := same_letters(name, known)))
    return next(exact, None) or next(there, None) or next(alike, None)


def unknown(home: str, name: str, owner: Any) -> AttributeError:
    """The error for a name that a package or an object lacks; home: its key in HINTS."""
    what = f"module '{owner.__name__}'" if isinstance(owner, ModuleType) else f"'{type(owner).__name__}' object"
    advice = _advice(home, name)
    if advice is None:
        return AttributeError(f"{what} has no attribute '{name}'", name=name, obj=owner)  # Python adds a similar name
    return AttributeError(f"{what} has no attribute '{name}'; {advice}")


def answers_names(kind: K, fixed: Iterable[str] = ()) -> K:
    """A class whose objects answer names that they lack with the advice of HINTS, when they are read and when they are set,
    which would have no effect; classes derived from it outside of this package have attributes of their own. fixed: attributes
    that keep the value that they got first. A type checker does not see these methods: it would take every name for one of
    the objects'."""
    set_attribute = object.__setattr__
    settable: dict[type, set[str]] = {}  # names that were found to be so, by class

    def __getattr__(self: Any, name: str) -> Any:
        raise unknown(kind.__name__, name, self)

    def __setattr__(self: Any, name: str, value: Any) -> None:
        try:
            known = settable[type(self)]
        except KeyError:
            known = settable[type(self)] = set()
        if name not in known:
            is_own = is_inside(sys._getframe(1).f_code)
            if name in fixed:
                if name in vars(self) and not is_own:
                    raise AttributeError(f"'{name}' of '{type(self).__name__}' object is fixed: make another object")
            elif is_own or name.startswith("_") or hasattr(type(self), name) or not type(self).__module__.startswith(_BELOW):
                known.add(name)
            elif name in getattr(self, "__dict__", ()):  # this object has it, and perhaps no other one
                pass
            else:
                raise unknown(kind.__name__, name, self)
        set_attribute(self, name, value)

    kind.__getattr__ = __getattr__  # type: ignore[attr-defined]
    kind.__setattr__ = __setattr__  # type: ignore[assignment]
    return kind


def refuses_copies(kind: type, advice: str) -> None:
    """Objects of a class of the bindings, and what holds one, can't be pickled or deeply copied; the error says what to do."""

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        raise TypeError(f"a {kind.__name__} can't be copied or pickled: {advice}")

    kind.__reduce_ex__ = __reduce_ex__  # type: ignore[assignment]


class Submodule(ModuleType):
    """A module with the name of a function of another framework, such as layers.linear."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"'{self.__name__}' is a module, it cannot be called; here: {_hint_of(self)}")

    def __reduce__(self) -> Any:
        """cloudpickle takes modules by name only if they are of the class ModuleType itself."""
        return importlib.import_module, (self.__name__,)


def _hint_of(module: ModuleType) -> str | None:
    home, _, name = module.__name__.removeprefix(f"{__package__}.").rpartition(".")
    return HINTS.get(home, {}).get(name)


def show_public(namespace: dict[str, Any]) -> None:
    """Gives a public module a __dir__ of its public names, and errors with advice for names of other frameworks and for
    arguments of another kind."""
    name = namespace["__name__"]

    def __getattr__(missing: str) -> Any:
        raise unknown(name.removeprefix(f"{__package__}."), missing, sys.modules[name])

    namespace.setdefault("__getattr__", __getattr__)
    namespace["__dir__"] = lambda: sorted({*namespace["__all__"], *(own for own in namespace if own.startswith("__"))})
    for value in namespace.values():
        if type(value) is ModuleType and value.__name__.startswith(f"{name}.") and _hint_of(value):
            value.__class__ = Submodule
    make_explained(namespace, namespace["__all__"])


def _package(home: str) -> ModuleType:
    root = __package__
    return importlib.import_module(f"{root}.{home}" if home else root)
