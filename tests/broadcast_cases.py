# Shapes that elementwise operators of two inputs must get right, and NumPy's view of `axis`.
import numpy as np

from harness import array, ints

# name: shape of X, shape of Y, axis
SHAPES = {
    "same shape": ((3, 4), (3, 4), -1),
    "long": ((7, 143), (7, 143), -1),
    "bias": ((5, 37), (37,), -1),
    "bias by axis": ((2, 3, 4, 5), (3,), 1),
    "bias on the left by axis": ((3,), (2, 3, 4, 5), 1),
    "middle axes on the left": ((3, 4), (2, 3, 4, 5), 1),
    "middle axes": ((2, 3, 4, 5), (3, 4), 1),
    "column": ((3, 4), (3, 1), -1),
    "row on the left": ((1, 4), (3, 4), -1),
    "both stretch": ((3, 1, 20), (1, 5, 20), -1),
    "both stretch at the end": ((3, 1), (1, 5), -1),
    "inner one": ((2, 3, 4), (2, 1, 4), -1),
    "number on the right": ((3, 40), (), -1),
    "number on the left": ((), (3, 4), -1),
    "one element on the right": ((3, 4), (1,), -1),
    "trailing ones by axis": ((2, 3), (3, 1, 1), 1),
    "two numbers": ((), (), -1),
    "no rows": ((0, 4), (4,), -1),
    "no rows in both": ((0, 4), (0, 4), -1),
    "one against none": ((1, 4), (0, 4), -1),
}


def broadcast_cases(x=dict(), y=dict()):
    """Cases of an operator's test; x and y say from where the numbers are drawn."""
    return {
        name: ({"X": array(*left, seed=1, **x), "Y": array(*right, seed=2, **y)}, {"axis": axis})
        for name, (left, right, axis) in SHAPES.items()
    }


def whole_number_cases():
    return {
        dtype: ({"X": ints(3, 5, low=-20, high=20, dtype=dtype), "Y": ints(5, low=1, dtype=dtype)}, {})
        for dtype in ("int32", "int64")
    }


def operands(inputs, attrs):
    """X and Y with dimensions that NumPy stretches as the operator does."""
    x, y = np.asarray(inputs["X"]), np.asarray(inputs["Y"])
    axis = attrs["axis"]
    if axis == -1:
        return x, y
    if x.ndim < y.ndim:
        return operands({"X": y, "Y": x}, attrs)[::-1]
    while y.ndim and axis + y.ndim > x.ndim and y.shape[-1] == 1:
        y = y[..., 0]
    return x, y.reshape(y.shape + (1,) * (x.ndim - axis - y.ndim))


def broadcast_refusals(pm):
    return {
        "other size": ({"X": array(3, 4), "Y": array(3)}, {}, pm.ShapeError, "X Y [3, 4] [3]"),
        "axis beyond X": ({"X": array(3, 4), "Y": array(4)}, {"axis": 2}, pm.ShapeError, "axis 2"),
        "negative axis": ({"X": array(3, 4), "Y": array(4)}, {"axis": -2}, pm.ProgramError, "axis -2"),
        "other dtype": ({"X": array(3, 4), "Y": array(4).astype("float32")}, {}, pm.ShapeError, "float64 float32"),
    }
