# Transactions: a call that builds part of a program either completes or is rolled back.
# Each change of a program under construction first records how to undo it; for lists and dicts that only grow, the
# length suffices. Records exist only while a transaction is open; an exception that leaves a transaction undoes all
# changes since its start. A nested transaction is a savepoint: a layer that fails in a loop's block, where the user
# catches the error, undoes only its own operators.
from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any, TypeVar

Undo = Callable[[], Any]
F = TypeVar("F")


class _Here(threading.local):
    transaction: transaction | None = None  # the innermost one that this thread has open


_here = _Here()


class transaction:
    """`with transaction():` an exception that leaves the block undoes all changes inside."""

    __slots__ = ("_around", "notes", "lengths", "last")

    def __enter__(self) -> None:
        self.notes: list[Undo] = []
        self.lengths: dict[int, tuple[Any, int]] = {}  # lengths of lists and dicts that have grown, by id
        self.last: set[Undo] = set()
        self._around, _here.transaction = _here.transaction, self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        around = _here.transaction = self._around
        if kind is not None:
            self._take_back()
        elif around is not None:
            around.notes += self.notes
            around.last |= self.last
            for key, length in self.lengths.items():
                around.lengths.setdefault(key, length)

    def _take_back(self) -> None:
        for undo in reversed(self.notes):
            undo()
        for grown, length in self.lengths.values():
            if isinstance(grown, list):
                del grown[length:]
            while len(grown) > length:
                grown.popitem()  # the newest
        for undo in self.last:
            undo()


def on_undo(undo: Undo) -> None:
    """Records how to undo the change that follows."""
    here = _here.transaction
    if here is not None:
        here.notes.append(undo)


def after_undo(call: Undo) -> None:
    """Records a function to call, once, after all changes have been undone."""
    here = _here.transaction
    if here is not None:
        here.last.add(call)


def before_growing(grows: list[Any] | MutableMapping[Any, Any]) -> None:
    """Records the length of a list before an append, or of a dict before a new key."""
    here = _here.transaction
    if here is not None and id(grows) not in here.lengths:
        here.lengths[id(grows)] = grows, len(grows)


def before_setting(mapping: MutableMapping[Any, Any], *keys: Any) -> None:
    """Records the values of these keys before they are set; for attributes of an object: vars(object)."""
    here = _here.transaction
    if here is None:
        return
    for key in keys:
        if key in mapping:
            here.notes.append(functools.partial(mapping.__setitem__, key, mapping[key]))
        else:
            before_growing(mapping)


def before_changing(thing: Any) -> None:
    """Records all attributes of an object before it changes, with the contents of their lists, dicts and sets."""
    if _here.transaction is not None:
        on_undo(
            functools.partial(
                _put_all_back,
                vars(thing),
                {name: value.copy() if type(value) in (list, dict, set) else value for name, value in vars(thing).items()},
            )
        )


def _put_all_back(attributes: dict[str, Any], before: dict[str, Any]) -> None:
    attributes.clear()
    attributes.update(before)


def atomic(function: F) -> F:
    """Wraps a function so that each call is a transaction."""

    @functools.wraps(function)  # type: ignore[arg-type]
    def call(*args: Any, **kwargs: Any) -> Any:
        with transaction():
            return function(*args, **kwargs)  # type: ignore[operator]

    return call  # type: ignore[return-value]


def atomic_method(function: F) -> F:
    """Wraps a method so that each call is a transaction that includes the attributes of its object."""

    @functools.wraps(function)  # type: ignore[arg-type]
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with transaction():
            before_changing(self)
            return function(self, *args, **kwargs)  # type: ignore[operator]

    return call  # type: ignore[return-value]


def make_methods_atomic(kind: type, names: Iterable[str]) -> None:
    """Wraps these methods if the class itself defines them."""
    for name in names:
        method = vars(kind).get(name)
        if inspect.isfunction(method):
            setattr(kind, name, atomic_method(method))
        elif isinstance(method, staticmethod):
            setattr(kind, name, staticmethod(atomic(method.__func__)))


def make_atomic(namespace: dict[str, Any], names: Iterable[str]) -> None:
    """Makes these functions of a module, and the public methods of these classes, atomic."""
    for name in names:
        value = namespace[name]
        if inspect.isclass(value):
            make_methods_atomic(
                value, [method for method in vars(value) if not method.startswith("_") or method in ("__init__", "__call__")]
            )
            continue
        replace_function(namespace, name, atomic(value))


def replace_function(namespace: dict[str, Any], name: str, wrapped: Any) -> None:
    """Replaces a function of a module, also where it is defined: a function is one object under all its names."""
    before = namespace[name]
    home = vars(sys.modules[before.__module__])
    if home.get(name) is before:
        home[name] = wrapped
    namespace[name] = wrapped
