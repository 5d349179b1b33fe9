# bfloat16 for NumPy, which lacks it: its bits as uint16, the upper half of a float32's.
import numpy as np


def numbers_of(bits):
    """The float32 with these bits."""
    return (np.asarray(bits, "uint32") << 16).view("float32")


def bits_of(numbers):
    """The bits nearest to finite float32 numbers; ties go to the even one."""
    numbers = np.asarray(numbers, "float32")
    below = numbers.view("uint32") >> 16  # towards zero
    low, high = numbers_of(below).astype("float64"), numbers_of(below + 1).astype("float64")
    high = np.where(np.isinf(high), np.copysign(2.0**128, high), high)  # 2^128, which rounds to infinity
    first, second = np.abs(numbers - low), np.abs(high - numbers)
    up = (second < first) | ((second == first) & (below % 2 == 1))
    return (below + up).astype("uint16")
