"""A library of tensors that share their memory by DLPack only, made with ctypes."""

import ctypes

import numpy as np

CPU, CUDA, PINNED = 1, 2, 3
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6
CODES = {"i": INT, "u": UINT, "f": FLOAT, "c": COMPLEX, "b": BOOL}


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("owner", ctypes.c_void_p), ("deleter", _Deleter)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("owner", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_exported = {}  # by address: what consumers hold
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Producer:
    """Shares the memory of a NumPy array. `exports` and `released` count its consumers.

    versioned: it exports by version 1.0 of the protocol; False: it refuses max_version, as older libraries do. code, lanes: of
    the element type; None: that of the array. device: (type, number). error: __dlpack__ raises it. offset: bytes before the
    first element, in elements.
    """

    def __init__(self, array, versioned=True, code=None, device=(CPU, 0), error=None, read_only=False, offset=0, lanes=1):
        self.array, self.versioned, self.device, self.error = array, versioned, device, error
        self.code = CODES[array.dtype.kind] if code is None else code
        self.read_only, self.offset, self.lanes = read_only, offset, lanes
        self.exports, self.released = 0, 0

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if options and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        if self.error is not None:
            raise self.error
        held = (_Versioned if self.versioned else _Managed)()
        size = self.array.itemsize
        rank = self.array.ndim
        held.tensor = _Tensor(
            self.array.ctypes.data - self.offset * size,
            *self.device,
            rank,
            self.code,
            8 * size,
            self.lanes,
            (ctypes.c_int64 * rank)(*self.array.shape),
            (ctypes.c_int64 * rank)(*(stride // size for stride in self.array.strides)),
            self.offset * size,
        )
        if self.versioned:
            held.major, held.flags = 1, int(self.read_only)
        if self.array.flags.c_contiguous and not self.versioned:
            held.tensor.strides = None
        held.deleter = _Deleter(self._release)
        at = ctypes.addressof(held)
        _exported[at] = (held, self.array)
        self.exports += 1
        return _capsule(at, b"dltensor_versioned" if self.versioned else b"dltensor", None)

    def _release(self, at):
        self.released += 1
        del _exported[at]


class WithArray(Producer):
    """A producer that NumPy reads as well."""

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype)
