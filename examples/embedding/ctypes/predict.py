# Inference from Python's standard library alone: python predict.py PREFIX [LIBRARY]
"""LIBRARY: libpaddle_mini.so; if it is omitted, the system's loader finds it. Prints the outputs for batches of 1 to 4 rows.

Programs that have NumPy and paddle_mini use pm.Predictor instead.
"""

import ctypes
import sys
from array import array

FLOAT32, INPUTS = 5, 6


class Tensor(ctypes.Structure):
    """pm_tensor, without what dense arrays leave 0."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.c_int64 * 9),
        ("others", ctypes.c_void_p * 6),
    ]


class Predictor:
    def __init__(self, library, prefix):
        self.library = ctypes.CDLL(library)
        self.library.pm_last_error.restype = ctypes.c_char_p
        self.predictor, self.outputs = ctypes.c_uint64(), ctypes.c_uint64()
        self.check(self.library.pm_predictor_load(prefix.encode(), None, 0, ctypes.byref(self.predictor)))
        self.check(self.library.pm_values_create(ctypes.byref(self.outputs)))

    def check(self, status):
        if status:
            raise ValueError(self.library.pm_last_error().decode())

    def __call__(self, values, shape):
        """The first output, for an input of float32."""
        address, count = values.buffer_info()
        given, found = Tensor(address, count * 4, FLOAT32, len(shape), tuple(shape)), Tensor()
        size = ctypes.c_size_t
        self.check(self.library.pm_predictor_run(self.predictor, ctypes.byref(given), size(1), self.outputs))
        self.check(self.library.pm_values_get(self.outputs, size(0), size(0), ctypes.byref(found)))
        return array("f", ctypes.string_at(found.data, found.bytes))

    def close(self):
        self.check(self.library.pm_release(self.outputs))
        self.check(self.library.pm_release(self.predictor))


def main():
    predictor = Predictor(sys.argv[2] if len(sys.argv) > 2 else "libpaddle_mini.so", sys.argv[1])
    for rows in range(1, 5):
        for value in predictor(array("f", (i / 8 for i in range(rows * INPUTS))), (rows, INPUTS)):
            print(f"{value:.6f}")
    predictor.close()


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"predict: {error}")
