# The optimizers' C library: its functions with their types, and its errors as exceptions.
from __future__ import annotations

import ctypes
import os
from functools import cache

import numpy as np

from .. import _core
from .._core import DeviceError, Error, OpError, ProgramError

LIBRARY = "libpaddle_mini_optimizer.so"
VERSION = 1
"""The version of the interface, cpp/capi/paddle_optimizer.h."""
ELEMENT_TYPES = {np.dtype(np.float32): 4, np.dtype(np.float64): 5}


class BusyError(Error):
    """Another thread is in a call for the same NativeOptimizer; nothing has changed."""


class NotFiniteError(OpError):
    """A gradient is not finite, and the configuration has nan_policy Refuse; nothing has changed."""


@cache
def load_library() -> ctypes.CDLL:
    """The library beside the package, with the types of its functions."""
    path = os.path.join(os.path.dirname(_core.__file__), LIBRARY)
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise DeviceError(f"the C library of optimizers can't be loaded: {error}") from None
    pointer, size, int32, double = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_double
    array = (int32, pointer, size)
    signatures = {
        "paddle_create_optimizer": (pointer, ctypes.c_char_p, size, int32, pointer, size, ctypes.c_char_p, size),
        "paddle_restore_optimizer": (pointer, ctypes.c_char_p, size, int32, size, *(ctypes.c_char_p, size) * 2),
        "paddle_release_optimizer": (int32, pointer),
        "paddle_update_parameter": (int32, pointer, *array),
        "paddle_update_parameter_rows": (int32, pointer, int32, pointer, size, pointer, size),
        "paddle_apply_delta": (int32, pointer, *array, double),
        "paddle_optimizer_param": (pointer, pointer, pointer),
        "paddle_optimizer_get_rows": (int32, pointer, int32, pointer, size, pointer, size),
        "paddle_optimizer_get_state": (int32, pointer, pointer, pointer),
        "paddle_optimizer_free_state": (int32, pointer),
        "paddle_optimizer_snapshot": (int32, pointer, pointer, pointer),
        "paddle_optimizer_snapshot_changes": (int32, pointer, pointer, pointer),
        "paddle_snapshot_read": (int32, pointer, pointer, size),
        "paddle_release_snapshot": (int32, pointer),
        "paddle_optimizer_set_learning_rate": (int32, pointer, double),
        "paddle_optimizer_get_learning_rate": (int32, pointer, pointer),
        "paddle_optimizer_set_pass": (int32, pointer, ctypes.c_int64),
        "paddle_optimizer_get_updates": (int32, pointer, pointer, pointer),
        "paddle_optimizer_average": (int32, pointer, size, *array),
        "paddle_optimizer_average_part": (int32, pointer, size, size, *array),
        "paddle_optimizer_last_error": (ctypes.c_char_p,),
        "paddle_optimizer_last_status": (int32,),
        "paddle_optimizer_version": (int32,),
        "paddle_optimizer_processor_level": (ctypes.c_char_p,),
    }
    for name, (result, *arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if library.paddle_optimizer_version() != VERSION:
        raise DeviceError(f"{path} has interface {library.paddle_optimizer_version()}, it must be {VERSION}")
    return library


def failure() -> Error:
    """The error of this thread's last failed call, as an exception."""
    library, kinds = load_library(), {-2: BusyError, -3: NotFiniteError, -4: DeviceError}
    kind = kinds.get(library.paddle_optimizer_last_status(), ProgramError)
    return kind(library.paddle_optimizer_last_error().decode(errors="replace"))
