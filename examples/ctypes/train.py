# Linear regression with optimizers of the C library, from Python's standard library alone: python train.py [LIBRARY]
"""LIBRARY: libpaddle_mini_optimizer.so; if it is omitted, the system's loader finds it.

target = weights . x + item . (the first numbers of x) + noise; one optimizer keeps the weights, one the table of items.
Programs that have NumPy and paddle_mini use pm.optimizer.NativeOptimizer instead.
"""

import ctypes
import random
import struct
import sys
from array import array

FLOAT32, OK = 4, 0
FEATURES, ITEMS, WIDTH, BATCH, STEPS = 16, 1000, 4, 32, 600


def load(path):
    """The library with declared signatures: without them, ctypes would truncate pointers to 32 bits."""
    library = ctypes.CDLL(path)
    pointer, size, number, data = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p
    signatures = {
        "paddle_create_optimizer": (pointer, [data, size, number, pointer, size, data, size]),
        "paddle_release_optimizer": (number, [pointer]),
        "paddle_update_parameter": (number, [pointer, number, pointer, size]),
        "paddle_update_parameter_rows": (number, [pointer, number, pointer, size, pointer, size]),
        "paddle_optimizer_param": (pointer, [pointer, pointer]),
        "paddle_optimizer_get_rows": (number, [pointer, number, pointer, size, pointer, size]),
        "paddle_optimizer_get_state": (number, [pointer, pointer, pointer]),
        "paddle_optimizer_free_state": (number, [pointer]),
        "paddle_optimizer_last_error": (data, []),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def varint(value):
    """A varint: seven bits per byte, the lowest first; the top bit marks that another byte follows."""
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def whole(field, value):
    return varint(field << 3) + varint(value)


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def message(field, *parts):
    inner = b"".join(parts)
    return varint(field << 3 | 2) + varint(len(inner)) + inner


# The fields' numbers are those of optimizer.proto: SGD with momentum and constant rate, and Adagrad for rows.
DENSE = whole(1, 1) + message(3, double(21, 0.9)) + message(12, double(1, 0.02))
TABLE = whole(1, 3) + message(12, double(1, 0.3)) + whole(107, WIDTH)


class Optimizer:
    """One parameter and its optimizer's state."""

    def __init__(self, library, config, count, state=None):
        self.library, self.count = library, count
        zeros = array("f", bytes(4 * count))
        self.handle = library.paddle_create_optimizer(config, len(config), FLOAT32, *place(zeros), state, len(state or b""))
        if not self.handle:
            raise ValueError(library.paddle_optimizer_last_error().decode())

    def check(self, status):
        if status != OK:
            raise ValueError(self.library.paddle_optimizer_last_error().decode())

    def update(self, gradient):
        self.check(self.library.paddle_update_parameter(self.handle, FLOAT32, *place(gradient)))

    def update_rows(self, rows, gradient):
        self.check(
            self.library.paddle_update_parameter_rows(self.handle, FLOAT32, rows.buffer_info()[0], len(rows), *place(gradient))
        )

    def parameter(self):
        borrowed = self.library.paddle_optimizer_param(self.handle, None)
        return array("f", ctypes.string_at(borrowed, 4 * self.count))

    def rows(self, rows):
        values = array("f", bytes(4 * WIDTH * len(rows)))
        self.check(self.library.paddle_optimizer_get_rows(self.handle, FLOAT32, rows.buffer_info()[0], len(rows), *place(values)))
        return values

    def state(self):
        address, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.check(self.library.paddle_optimizer_get_state(self.handle, ctypes.byref(address), ctypes.byref(size)))
        copy = ctypes.string_at(address, size.value)
        self.library.paddle_optimizer_free_state(address)
        return copy

    def close(self):
        self.check(self.library.paddle_release_optimizer(self.handle))
        self.handle = None


def place(values):
    """The address of an array, and its number of bytes."""
    return values.buffer_info()[0], len(values) * values.itemsize


def uniform(numbers, count):
    return array("f", (numbers.uniform(-1, 1) for _ in range(count)))


def step(number, truth, dense, table):
    """One update of both with the batch of this number; returns the mean of the squared errors."""
    numbers = random.Random(1000 + number)
    inputs = [uniform(numbers, FEATURES) for _ in range(BATCH)]
    items = array("q", (numbers.randrange(ITEMS) for _ in range(BATCH)))
    weights, rows, loss = dense.parameter(), table.rows(items), 0.0
    gradient, row_gradient = array("f", bytes(4 * FEATURES)), array("f")
    for i, x in enumerate(inputs):
        own, true = rows[i * WIDTH : (i + 1) * WIDTH], truth[1][items[i] * WIDTH : (items[i] + 1) * WIDTH]
        error = numbers.uniform(-0.1, 0.1) + sum((a - b) * c for a, b, c in zip(weights, truth[0], x))
        error += sum((a - b) * c for a, b, c in zip(own, true, x))
        loss += error * error / BATCH
        for k in range(FEATURES):
            gradient[k] += 2 * error / BATCH * x[k]
        row_gradient.extend(2 * error / BATCH * x[k] for k in range(WIDTH))
    dense.update(gradient)
    table.update_rows(items, row_gradient)
    return loss


def train(first, last, truth, *optimizers):
    for number in range(first, last):
        loss = step(number, truth, *optimizers)
        if number % 100 == 0:
            print(f"step {number:3}  loss {loss:.4f}")
    return loss


def main():
    library = load(sys.argv[1] if len(sys.argv) > 1 else "libpaddle_mini_optimizer.so")
    numbers = random.Random(1)
    truth = uniform(numbers, FEATURES), uniform(numbers, ITEMS * WIDTH)
    first = Optimizer(library, DENSE, FEATURES), Optimizer(library, TABLE, ITEMS * WIDTH)
    train(0, STEPS // 2, truth, *first)
    second = (Optimizer(library, DENSE, FEATURES, first[0].state()), Optimizer(library, TABLE, ITEMS * WIDTH, first[1].state()))
    print("the state is saved, and a second model made of it")
    train(STEPS // 2, STEPS, truth, *first)
    print(f"step {STEPS}  loss {train(STEPS // 2, STEPS, truth, *second):.4f}")
    if [one.state() for one in first] != [one.state() for one in second]:
        sys.exit("the models differ")
    print("both models have the same bits")
    for one in first + second:
        one.close()


if __name__ == "__main__":
    main()
