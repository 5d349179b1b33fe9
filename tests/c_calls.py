# The C interface from ctypes: functions with the signatures of the header, arrays as pm_tensor and back.
import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from paddle_mini import _core

HEADER = Path(__file__).resolve().parents[1] / "cpp/capi/paddle_mini.h"
TEXT = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
PROTOTYPES = re.findall(r"^(?:int|const char\*) (pm_\w+)\(([^)]*)\);", TEXT, re.M | re.S)
OK, ARGUMENT, PROGRAM, SHAPE, OPERATOR, IN_USE, RESOURCE, STOPPED = range(0, -8, -1)
DTYPES = {0: "bool", 1: "int16", 2: "int32", 3: "int64", 4: "float16", 5: "float32", 6: "float64", 20: "uint8", 21: "int8"}
NUMBERS = {name: number for number, name in DTYPES.items()}
TENSOR, SELECTED_ROWS, TENSOR_ARRAY = 7, 8, 13


class Level(ctypes.Structure):
    _fields_ = [("offsets", ctypes.POINTER(ctypes.c_int64)), ("count", ctypes.c_size_t)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.c_int64 * 9),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("lod", ctypes.POINTER(Level)),
        ("lod_levels", ctypes.c_size_t),
        ("rows", ctypes.POINTER(ctypes.c_int64)),
        ("row_count", ctypes.c_size_t),
        ("height", ctypes.c_int64),
    ]


STOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("place", ctypes.c_char_p),
        ("threads", ctypes.c_int32),
        ("has_seed", ctypes.c_int32),
        ("seed", ctypes.c_uint64),
        ("max_loop_steps", ctypes.c_int64),
        ("files", ctypes.c_int32),
        ("cpu_fallback", ctypes.c_int32),
        ("stop", STOP),
        ("context", ctypes.c_void_p),
    ]


def options(**fields):
    return Options(size=ctypes.sizeof(Options), **fields)


PLAIN = {"int": ctypes.c_int, "size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32, "uint64_t": ctypes.c_uint64}


def argument_type(words):
    """The type of one parameter of a prototype."""
    kind = re.sub(r"\bconst\b|\w+$", "", words.strip()).replace(" ", "")
    if kind == "char*":
        return ctypes.c_char_p
    return ctypes.c_void_p if "*" in kind else PLAIN.get(kind, ctypes.c_uint64)


def load():
    library = ctypes.CDLL(str(Path(_core.__file__).parent / "libpaddle_mini.so"))
    for name, parameters in PROTOTYPES:
        function = getattr(library, name)
        function.argtypes = [argument_type(one) for one in parameters.split(",")] if parameters != "void" else []
        function.restype = ctypes.c_char_p if name == "pm_last_error" else ctypes.c_int
    return library


C = load()


class Failed(Exception):
    def __init__(self, status):
        self.status, self.message = status, C.pm_last_error().decode()
        super().__init__(f"{status}: {self.message}")


def done(status):
    if status != OK:
        raise Failed(status)


def out(function, *arguments, kind=ctypes.c_uint64):
    """The value that a function writes to its last argument."""
    result = kind()
    done(function(*arguments, ctypes.byref(result)))
    return result if issubclass(kind, ctypes.Structure) else result.value


def integers(values):
    return (ctypes.c_int64 * len(values))(*values)


def tensor(array, lod=None, rows=None, height=0):
    """A pm_tensor in the memory of the array; it keeps the array."""
    array = np.asarray(array)
    made = Tensor(array.ctypes.data, array.nbytes, NUMBERS[array.dtype.name], array.ndim)
    made.shape[: array.ndim] = array.shape
    if not array.flags.c_contiguous:
        made.strides = integers([stride // array.itemsize for stride in array.strides])
        made.bytes = sum((size - 1) * stride for size, stride in zip(array.shape, array.strides)) + array.itemsize
    if lod:
        made.lod = (Level * len(lod))(*(Level(integers(level), len(level)) for level in lod))
        made.lod_levels = len(lod)
    if rows is not None:
        made.rows, made.row_count, made.height = integers(rows), len(rows), height
    made.kept = array, lod, rows
    return made


def tensors(arrays):
    made = [one if isinstance(one, Tensor) else tensor(one) for one in arrays]
    several = (Tensor * len(made))(*made)
    several.kept = made
    return several


def array_of(found):
    """A copy of the memory that a pm_tensor refers to; None if it has no value."""
    if not found.data:
        return None
    return np.frombuffer(ctypes.string_at(found.data, found.bytes), DTYPES[found.dtype]).reshape(found.shape[: found.rank])


def names(*texts):
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


def got(values, index=0, element=0):
    return out(C.pm_values_get, values, index, element, kind=Tensor)


def arrays_of(values):
    return [array_of(got(values, i)) for i in range(out(C.pm_values_count, values, kind=ctypes.c_size_t))]


def texts_of(values):
    count = out(C.pm_values_count, values, kind=ctypes.c_size_t)
    return [out(C.pm_values_text, values, i, kind=ctypes.c_char_p).decode() for i in range(count)]


class Handles:
    """Makes handles, and releases all of them at the end of a `with` block."""

    def __enter__(self):
        self.made = []
        return self

    def __exit__(self, *_):
        for handle in self.made:
            C.pm_release(handle)

    def __getattr__(self, name):
        """handles.scope_create(...) is pm_scope_create with its handle as result."""
        function = getattr(C, f"pm_{name}")

        def make(*arguments):
            self.made.append(out(function, *arguments))
            return self.made[-1]

        return make


def refused(status, call, *arguments):
    with pytest.raises(Failed) as failure:
        done(call(*arguments))
    assert failure.value.status == status, failure.value
    assert failure.value.message and len(failure.value.message.splitlines()) <= 12
    return failure.value.message


def program_of(handles, program):
    data = program.to_bytes()
    return handles.program_load(data, len(data))


def everything(handles, scope):
    values = handles.values_create()
    done(C.pm_scope_names(scope, values))
    found = texts_of(values)
    done(C.pm_scope_get(scope, names(*found), len(found), values))
    return dict(zip(found, arrays_of(values)))


def scope_with(handles, values):
    scope = handles.scope_create()
    for name, value in values.items():
        done(C.pm_scope_set(scope, name.encode(), ctypes.byref(tensor(value))))
    return scope
