# Pickled states (.pdparams, .pdopt): dicts of NumPy arrays, read by a restricted unpickler that executes no code.
from __future__ import annotations

import io
import math
import pickletools
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _core
from .._core import ProgramError
from ..errors import shown
from .checksums import is_marked, require_whole

# A state of paddle_mini begins with a constant that is taken off the stack again: this, its CRC-32C in 4 bytes, and POP.
# PaddlePaddle ignores it. The checksum covers all that follows.
_PROTOCOL = b"\x80\x04"
MARK_OF_CHECKSUM = _PROTOCOL + b"C\x0epm-crc32c:"
_BEHIND_MARK, POP = len(MARK_OF_CHECKSUM) + 4, b"0"

# Real states take about 40 steps an array; a file of more is made to fill the memory.
MOST_STEPS = 4_000_000
DEEPEST = 8

_NAMES = {
    ("collections", "OrderedDict"),
    ("_codecs", "encode"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    *((builtins, name) for builtins in ("builtins", "__builtin__") for name in ("tuple", "bytes")),
    *(("numpy." + core + ".multiarray", name) for core in ("core", "_core") for name in ("_reconstruct", "scalar")),
}
_PUT = {"BINPUT", "LONG_BINPUT", "PUT"}
_GET = {"BINGET", "LONG_BINGET", "GET"}
# Operations that push their argument.
_CONSTANTS = {
    "BININT",
    "BININT1",
    "BININT2",
    "LONG1",
    "BINFLOAT",
    "BINUNICODE",
    "SHORT_BINUNICODE",
    "BINUNICODE8",
    "BINBYTES",
    "SHORT_BINBYTES",
    "BINBYTES8",
    "BINSTRING",
    "SHORT_BINSTRING",
}
_VALUES = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple}
_MARK = object()


class _Name:
    """A global that the file names and that is known as data."""

    def __init__(self, module: Any, name: Any):
        self.name = f"{module}.{name}".replace("numpy._core.", "numpy.core.").replace("__builtin__.", "builtins.")
        if (module, name) not in _NAMES:
            raise ProgramError(
                f"it names {shown(self.name)}: arrays, numbers, strings, lists and dicts are read, and nothing is run"
            )


class _Unfinished:
    """A dtype or an array between the operation that makes it and the one that gives its state."""

    def __init__(self, dtype: str = ""):
        self.dtype = dtype
        self.array: Any = None


def pickled_state(data: bytes) -> dict[str, Any]:
    """The dict that the bytes hold: arrays, NumPy scalars, numbers, strings, lists, tuples and dicts of them.

    A tensor that PaddlePaddle writes as (name, array) becomes the array. ProgramError when the file is cut
    off, damaged, continues after its end, holds anything else, or nests or refers to itself as no state does.
    """
    machine = _Machine()
    stream = io.BytesIO(data)
    checked = has_checksum(data)
    if checked:
        stream.seek(_BEHIND_MARK + len(POP))
    try:
        argument: Any  # its type depends on the operation
        for number, (operation, argument, place) in enumerate(pickletools.genops(stream)):
            if (operation.name == "PROTO" and (place or not 2 <= argument <= 5)) or (
                number == 0 and operation.name != "PROTO" and not checked
            ):
                raise ProgramError("it is not pickled with protocol 2 to 5")
            if operation.name == "FRAME" and argument > len(data) - stream.tell():
                raise ProgramError(f"it is truncated: a frame has {argument} bytes, {len(data) - stream.tell()} are left")
            if number >= MOST_STEPS:
                raise ProgramError(f"it takes more than {MOST_STEPS} steps to read, which no state does")
            machine.step(operation.name, argument)
    except (
        ValueError,
        IndexError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        OverflowError,
        Warning,
    ) as error:  # pickletools warns of escapes where warnings are errors
        raise ProgramError(f"it is cut off, damaged or not pickled: {str(error)[:200]}") from None
    if stream.tell() != len(data):
        raise ProgramError(f"{len(data) - stream.tell()} bytes follow its end")
    if len(machine.stack) != 1 or type(machine.stack[0]) is not dict:
        raise ProgramError("it holds no dict")
    state = machine.stack[0]
    _check_depth(state)
    if not all(isinstance(key, str) for key in state):
        raise ProgramError("a key of its dict is not a string")
    return state


def has_checksum(data: bytes) -> bool:
    """Whether the state has a checksum; ProgramError when it does not match."""
    view = memoryview(data)
    if not is_marked(view, 0, MARK_OF_CHECKSUM):
        return False
    expected = int.from_bytes(view[len(MARK_OF_CHECKSUM) : _BEHIND_MARK], "little")
    require_whole(expected, _core.crc32c(view[_BEHIND_MARK:]))
    return True


class _Machine:
    """The stack machine of pickled data without the operations that import or call."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        if name in _CONSTANTS:
            self.stack.append(argument)
        elif name in _VALUES:
            self.stack.append(_VALUES[name])
        elif name in _EMPTY:
            self.stack.append(_EMPTY[name]())
        elif name == "MEMOIZE":
            self.memo[len(self.memo)] = self.stack[-1]
        elif name in _PUT:
            self.memo[argument] = self.stack[-1]
        elif name in _GET:
            self.stack.append(_shared(self.memo[argument]))
        elif name == "MARK":
            self.stack.append(_MARK)
        elif name == "GLOBAL":
            self.stack.append(_Name(*argument.split(" ", 1)))
        elif name == "STACK_GLOBAL":
            self.stack.append(_Name(*self.pop(2)))
        elif name not in ("PROTO", "FRAME", "STOP"):
            self.combine(name)

    def combine(self, name: str) -> None:
        """The operations that make one value of several."""
        if name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            self.stack.append(tuple(self.pop(int(name[-1]))))
        elif name in ("TUPLE", "LIST"):
            items = self.pop_to_mark()
            self.stack.append(tuple(items) if name == "TUPLE" else list(map(_plain, items)))
        elif name in ("APPEND", "APPENDS"):
            items = self.pop(1) if name == "APPEND" else self.pop_to_mark()
            _container(self.stack[-1], list).extend(map(_plain, items))
        elif name in ("SETITEM", "SETITEMS"):
            items = self.pop(2) if name == "SETITEM" else self.pop_to_mark()
            _set_items(_container(self.stack[-1], dict), items)
        elif name == "REDUCE":
            made, arguments = self.pop(2)
            self.stack.append(_made(made, arguments))
        elif name == "BUILD":
            made, state = self.pop(2)
            self.stack.append(_finished(made, state))
        else:
            raise ProgramError(f"it holds the operation {name}, which states of arrays don't need")

    def pop(self, count: int) -> list[Any]:
        items = self.stack[-count:]
        if len(items) != count or any(item is _MARK for item in items):
            raise ValueError("values are missing")
        del self.stack[-count:]
        return items

    def pop_to_mark(self) -> list[Any]:
        items = []
        while self.stack[-1] is not _MARK:
            items.append(self.stack.pop())
        self.stack.pop()
        return items[::-1]


def _shared(value: Any) -> Any:
    """Values that may be referenced twice: a container could then contain itself or grow without limit."""
    if isinstance(value, _Unfinished) and value.array is not None:
        return value.array
    nested = isinstance(value, tuple) and any(isinstance(item, (tuple, list, dict)) for item in value)
    if nested or isinstance(value, (dict, list)):
        raise ProgramError("it refers to a container a second time, which states don't")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, (_Name, _Unfinished)) or value is _MARK:
        raise ProgramError("it holds something that is neither an array nor a number, a string, a list or a dict")
    if isinstance(value, tuple):
        for item in value:
            _plain(item)
    return value


def _container(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"items are given to what is not a {kind.__name__}")
    return value


def _set_items(target: dict[Any, Any], items: list[Any]) -> None:
    if len(items) % 2:
        raise ValueError("a key has no value")
    for key, value in zip(items[::2], items[1::2]):
        if not isinstance(key, (str, int)):
            raise ProgramError("a key of a dict is neither a string nor an integer")
        if key in target:
            raise ProgramError(f"the key {shown(key)} is there twice")
        target[key] = _plain(value)


def _made(made: Any, arguments: Any) -> Any:
    """The result of calling this name: a dict, bytes, a scalar, or a dtype or array without its state."""
    name = made.name
    if name == "collections.OrderedDict" and arguments == ():
        return {}
    if name == "builtins.tuple" and [type(part) for part in arguments[0]] == [str, np.ndarray]:
        return arguments[0][1]
    if name == "builtins.bytes" and arguments == ():
        return b""
    if name == "_codecs.encode" and len(arguments) == 2 and arguments[1] in ("latin1", "latin-1"):
        return _bytes(arguments[0])
    if name == "numpy.dtype":
        return _Unfinished(_bytes(arguments[0]).decode("latin1"))
    if name == "numpy.core.multiarray.scalar" and len(arguments) == 2:
        return _array((), arguments[0], False, arguments[1])[()]
    if name == "numpy.core.multiarray._reconstruct" and getattr(arguments[0], "name", "") == "numpy.ndarray":
        return _Unfinished()
    raise ProgramError(f"it uses {name} as no array is written")


def _finished(made: Any, state: Any) -> Any:
    """A dtype with its byte order, or an array with its shape and elements."""
    if not isinstance(made, _Unfinished) or made.array is not None:
        raise ProgramError("it gives a state to what is not an array")
    if made.dtype:
        order, fields = state[1], state[2:5]
        if order not in ("<", ">", "|", "=") or any(part is not None for part in fields):
            raise ProgramError(f"its element type {shown(made.dtype)} has fields")
        made.dtype = order + made.dtype
        return made
    if len(state) != 5:
        raise ValueError("the state of an array has other parts")
    made.array = _array(*state[1:])
    return made.array


def _array(shape: Any, dtype: Any, fortran: Any, data: Any) -> Any:
    code = dtype.dtype if isinstance(dtype, _Unfinished) else ""
    if code[:1] not in ("<", ">", "|", "=") or code[1:2] not in tuple("biufc"):
        raise ProgramError(f"an array has elements of {shown(code)}, which are not numbers")
    kind, raw = np.dtype(code), _bytes(data)
    if not isinstance(shape, tuple) or not all(type(dim) is int and dim >= 0 for dim in shape) or len(shape) > 32:
        raise ProgramError(f"an array has the shape {str(shape)[:200]}")
    if math.prod(shape) * kind.itemsize != len(raw):
        raise ProgramError(f"an array of shape {list(shape)} {kind.name} has {len(raw)} bytes")
    flat = np.frombuffer(raw, kind) if raw else np.zeros(0, kind)
    return np.array(flat.reshape(shape, order="F" if fortran else "C"), kind.newbyteorder("="), order="C")


def _bytes(value: Any) -> bytes:
    """Python 2 wrote bytes as what is text here."""
    return value if isinstance(value, bytes) else value.encode("latin1")


def _check_depth(state: Any) -> None:
    """No container holds itself, see _shared, so that this ends."""
    todo: list[tuple[Any, int]] = [(state, 1)]
    while todo:
        value, depth = todo.pop()
        if depth > DEEPEST:
            raise ProgramError(f"its containers are nested more than {DEEPEST} deep")
        inner: Iterable[Any] = value.values() if isinstance(value, dict) else value
        todo.extend((item, depth + 1) for item in inner if isinstance(item, (dict, list, tuple)))
