# NativeOptimizer: a parameter with its optimizer in the C library, without a program.
from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._core import ProgramError, ShapeError
from ..feeds import unmasked
from .native_arguments import bytes_of, number_of, serialized, size_of
from .native_library import ELEMENT_TYPES, failure, load_library

Ids = np.ndarray | Sequence[int]


class NativeOptimizer:
    """One parameter and its optimizer in the C library (docs/optimizer_library.md): for trainers that have no program,
    and for parameter servers.

    config: an OptimizerConfig, as to_config() of an optimizer gives, or its bytes. parameter: an array of float32 or
    float64, of any shape; its values are copied. state: what state() gave for the same optimizer, dtype and size; it
    replaces the values. changes: to this state, of a snapshot_changes().

    After an error nothing has changed. ProgramError: a configuration, state or argument is wrong; ShapeError: an array
    has another shape or dtype; NotFiniteError, BusyError; DeviceError: out of memory, or the library is missing.
    Objects are independent of each other, and calls let other threads run.
    Example:
        >>> config = pm.optimizer.SGD(0.5).to_config()
        >>> with pm.optimizer.NativeOptimizer(config, np.ones(3, "float32")) as optimizer:
        ...     optimizer.update(np.ones(3, "float32"))
        ...     print(optimizer.parameter())
        [0.5 0.5 0.5]
    """

    def __init__(self, config: Any, parameter: np.ndarray, state: bytes | None = None, changes: bytes | None = None):
        values = np.asarray(unmasked(parameter, "the parameter"))
        if values.dtype not in ELEMENT_TYPES:
            raise ShapeError(f"the parameter is {values.dtype}, it must be float32 or float64")
        self.config = config if isinstance(config, bytes) else serialized(config)
        """The bytes of the OptimizerConfig."""
        self.shape: tuple[int, ...] = values.shape
        self.dtype = values.dtype
        given = [bytes_of(what, value) for what, value in (("state", state), ("changes", changes))]
        self._handle: _Handle | None = _Handle(self.config, np.ascontiguousarray(values), *given)

    def update(self, gradient: np.ndarray) -> None:
        """One step. gradient: shape and dtype of the parameter."""
        values, handle = self._values("gradient", gradient, self.shape), self._open()
        # As _give() does: servers call this for each block of each message.
        if load_library().paddle_update_parameter(handle.pointer, ELEMENT_TYPES[values.dtype], values.ctypes.data, values.nbytes):
            raise failure()

    def update_rows(self, rows: Ids, gradient: np.ndarray) -> None:
        """One step with a gradient for some rows. gradient: [len(rows), ...], like rows of the parameter; a row that is
        named more than once gets the sum."""
        ids = self._rows(rows)
        values = self._values("gradient", gradient, (len(ids), *self.shape[1:]))
        self._call(
            "paddle_update_parameter_rows",
            ELEMENT_TYPES[self.dtype],
            ids.ctypes.data,
            len(ids),
            values.ctypes.data,
            values.nbytes,
        )

    def apply_delta(self, delta: np.ndarray, scale: float = 1.0) -> None:
        """parameter += scale delta, for a client that did the optimizing; it counts as an update. delta: shape and
        dtype of the parameter."""
        self._give("paddle_apply_delta", self._values("delta", delta, self.shape), number_of("scale", scale))

    def parameter(self) -> np.ndarray:
        """A copy of the parameter."""
        return self.view().copy()

    def view(self) -> np.ndarray:
        """The parameter itself, read-only: it shows each later update; rows whose decay is late, as they are now. It
        keeps the memory, also when this is closed."""
        library, size = load_library(), ctypes.c_size_t()
        handle = self._open()
        address = library.paddle_optimizer_param(handle.pointer, ctypes.byref(size))
        if not address:
            raise failure()
        memory = (ctypes.c_char * size.value).from_address(address)
        memory.owner = handle  # type: ignore[attr-defined]
        return np.frombuffer(memoryview(memory).toreadonly(), self.dtype).reshape(self.shape)

    def rows(self, ids: Ids) -> np.ndarray:
        """A copy of some rows: [len(ids), ...]."""
        rows = self._rows(ids)
        values = np.empty((len(rows), *self.shape[1:]), self.dtype)
        self._call(
            "paddle_optimizer_get_rows", ELEMENT_TYPES[self.dtype], rows.ctypes.data, len(rows), values.ctypes.data, values.nbytes
        )
        return values

    def average(self, which: int = 0) -> np.ndarray:
        """One of the averages that the configuration lists: shape and dtype of the parameter, its values before the
        first update that counts."""
        values = np.empty(self.shape, self.dtype)
        self._call(
            "paddle_optimizer_average", size_of("which", which), ELEMENT_TYPES[self.dtype], values.ctypes.data, values.nbytes
        )
        return values

    def average_part(self, which: int, first: int, count: int) -> np.ndarray:
        """`count` elements of average(), flat, from element `first` on: whole rows, if the parameter is a table that is
        updated by rows."""
        size = math.prod(self.shape)
        if size_of("count", count) > size:
            raise ShapeError(f"count is {count}, the parameter has {size} elements")
        values = np.empty(count, self.dtype)
        where = size_of("which", which), size_of("first", first), ELEMENT_TYPES[self.dtype]
        self._call("paddle_optimizer_average_part", *where, values.ctypes.data, values.nbytes)
        return values

    def state(self) -> bytes:
        """The complete state, exact to the bit."""
        state, size = ctypes.c_void_p(), ctypes.c_size_t()
        self._call("paddle_optimizer_get_state", ctypes.byref(state), ctypes.byref(size))
        try:
            return ctypes.string_at(state.value or 0, size.value)
        finally:
            load_library().paddle_optimizer_free_state(state)

    def snapshot(self) -> StateSnapshot:
        """The state of this moment, to be read in pieces while other threads update this object. Updates first copy what
        they change and what is not read yet. There is one at a time: ProgramError while another is open."""
        return StateSnapshot(self._read("paddle_optimizer_snapshot"))

    def snapshot_changes(self) -> StateSnapshot | None:
        """As snapshot(), of the rows of a table that have changed since the last snapshot(), with all that the state has
        for them; None if everything may have changed, as after a dense update, or when there was no snapshot()."""
        pointer, size = self._read("paddle_optimizer_snapshot_changes")
        return StateSnapshot((pointer, size)) if pointer else None

    def _read(self, function: str) -> tuple[ctypes.c_void_p, int]:
        pointer, size = ctypes.c_void_p(), ctypes.c_size_t()
        self._call(function, ctypes.byref(pointer), ctypes.byref(size))
        return pointer, size.value

    @property
    def learning_rate(self) -> float:
        """The rate of the last update; before the first one, that of the policy at 0."""
        rate = ctypes.c_double()
        self._call("paddle_optimizer_get_learning_rate", ctypes.byref(rate))
        return rate.value

    def set_learning_rate(self, learning_rate: float) -> None:
        """The rate of the next updates, in place of the policy's; at least 0. It is part of the state."""
        self._call("paddle_optimizer_set_learning_rate", number_of("the learning rate", learning_rate))

    def set_pass(self, number: int) -> None:
        """For the policy PassManual: the pass that the next updates belong to."""
        self._call("paddle_optimizer_set_pass", size_of("the pass", number))

    @property
    def updates(self) -> int:
        """The number of updates."""
        return self._counts()[0]

    @property
    def skipped(self) -> int:
        """The number of updates that were skipped because a gradient was not finite (nan_policy Skip)."""
        return self._counts()[1]

    def close(self) -> None:
        """Releases the memory, as soon as no view() of it exists."""
        self._handle = None

    def __enter__(self) -> NativeOptimizer:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the state: a copy, also in another process, has separate memory."""
        # Not parameter(), which applies late decay: later updates would then round otherwise than without a copy.
        return NativeOptimizer, (self.config, np.zeros(self.shape, self.dtype), self.state())

    def __repr__(self) -> str:
        return f"NativeOptimizer({list(self.shape)} {self.dtype}{', closed' * (self._handle is None)})"

    def _counts(self) -> tuple[int, int]:
        updates, skipped = ctypes.c_uint64(), ctypes.c_uint64()
        self._call("paddle_optimizer_get_updates", ctypes.byref(updates), ctypes.byref(skipped))
        return updates.value, skipped.value

    def held(self) -> tuple[int, int]:
        """The object in the library, and its element type, for callers in C++; it lives as long as this one is open."""
        return self._open().pointer, ELEMENT_TYPES[self.dtype]

    def _open(self) -> _Handle:
        handle = self._handle
        if handle is None:
            raise ProgramError("this NativeOptimizer is closed")
        return handle

    def _call(self, function: str, *arguments: Any) -> None:
        handle = self._open()  # stays here until the call is over
        if getattr(load_library(), function)(handle.pointer, *arguments):
            raise failure()

    def _give(self, function: str, values: np.ndarray, *extra: float) -> None:
        self._call(function, ELEMENT_TYPES[self.dtype], values.ctypes.data, values.nbytes, *extra)

    def _values(self, what: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
        values = given if type(given) is np.ndarray else np.asarray(unmasked(given, f"the {what}"))
        if values.shape != shape or values.dtype != self.dtype:
            raise ShapeError(f"the {what} is {list(values.shape)} {values.dtype}, it must be {list(shape)} {self.dtype}")
        flags = values.flags
        return values if flags.c_contiguous and flags.aligned else np.require(values, requirements=["C", "ALIGNED"])

    def _rows(self, given: Ids) -> np.ndarray:
        if not self.shape:
            raise ShapeError("a parameter of shape [] has no rows")
        rows = np.asarray(given)
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise ShapeError(f"rows are {list(rows.shape)} {rows.dtype}, they must be a list of integers")
        return np.ascontiguousarray(rows, np.int64)


class StateSnapshot:
    """The bytes of state() at the moment of NativeOptimizer.snapshot(), or of the changes to it. size: how many. One
    thread reads."""

    def __init__(self, made: tuple[ctypes.c_void_p, int]):
        self._release = load_library().paddle_release_snapshot
        self._pointer, self.size = made

    def pieces(self, size: int) -> Iterator[memoryview]:
        """The state, in pieces of at most `size` bytes; each piece is overwritten by the next."""
        if size_of("the size of a piece", size) == 0:
            raise ProgramError("the size of a piece is 0, it must be at least 1")
        buffer = memoryview(bytearray(min(size, self.size)))
        memory = (ctypes.c_char * len(buffer)).from_buffer(buffer)
        left = self.size
        while left:
            count = min(len(buffer), left)
            if load_library().paddle_snapshot_read(self._pointer, memory, count):
                raise failure()
            left -= count
            yield buffer[:count]

    def close(self) -> None:
        """Updates copy nothing any more. Can be repeated."""
        pointer, self._pointer = self._pointer, ctypes.c_void_p()
        if pointer:
            self._release(pointer)

    def __enter__(self) -> StateSnapshot:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            self.close()


class _Handle:
    """An object of the library, released when neither its NativeOptimizer nor a view of its memory refers to it."""

    def __init__(self, config: bytes, parameter: np.ndarray, state: bytes | None, changes: bytes | None):
        library, element = load_library(), ELEMENT_TYPES[parameter.dtype]
        self.release = library.paddle_release_optimizer  # at the end of the process this module may be gone before
        begin = config, len(config), element
        if changes is None:
            self.pointer = library.paddle_create_optimizer(
                *begin, parameter.ctypes.data, parameter.nbytes, state, len(state or b"")
            )
        else:
            self.pointer = library.paddle_restore_optimizer(
                *begin, parameter.nbytes, state, len(state or b""), changes, len(changes)
            )
        if not self.pointer:
            raise failure()

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self.release(self.pointer)


def takes_norms(config: Any) -> bool:
    """Whether a step of this OptimizerConfig's optimizer depends on the whole gradient, so that a parameter cannot be
    cut into blocks: the library then refuses to update some rows alone."""
    plain = type(config)(optimizer=config.optimizer, const_lr={})
    try:
        NativeOptimizer(plain, np.zeros(1)).update_rows([], np.zeros(0))
    except ProgramError:
        return True
    return False
