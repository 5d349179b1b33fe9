"""cummax, cummin: the largest and smallest elements so far, and their positions."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def so_far(replaces):
    def reference(inputs, attrs):
        x = np.atleast_1d(inputs["x"])
        lines = np.moveaxis(x, attrs["axis"], -1)
        found = np.zeros(lines.shape, "int64")
        for index in np.ndindex(lines.shape[:-1]):
            best = 0
            for j, one in enumerate(lines[index]):
                so_far = lines[index][best]
                if np.isnan(one) or (not np.isnan(so_far) and replaces(one, so_far)):
                    best = j
                found[(*index, j)] = best
        out = np.take_along_axis(lines, found, -1)
        back = lambda lines: np.moveaxis(lines, -1, attrs["axis"]).reshape(inputs["x"].shape)
        return {"out": back(out), "indices": back(found).astype("int32" if attrs["dtype"] == 2 else "int64")}

    return reference


CASES = {
    "rows": ({"x": array(3, 7)}, {}),
    "columns": ({"x": array(5, 3)}, {"axis": 0}),
    "middle axis": ({"x": array(2, 5, 3)}, {"axis": 1}),
    "one element": ({"x": array()}, {}),
    "no rows": ({"x": array(0, 4)}, {}),
    "no elements along the axis": ({"x": array(4, 0)}, {}),
}
VALUES = {
    "equal elements": ({"x": np.array([3.0, 3, 1, 3, 1])}, {}),
    "NaN": ({"x": np.array([1.0, 3, np.nan, np.nan, 5, 0])}, {}),
    "infinities": ({"x": np.array([-np.inf, 3, np.inf, -np.inf])}, {}),
    "integers": ({"x": ints(3, 5)}, {"axis": 0}),
    "narrow positions": ({"x": ints(3, 5)}, {"dtype": 2}),
}
REFUSALS = {
    "no such axis": ({"x": array(3)}, {"axis": 1}, pm.ShapeError, "axis 1"),
    "positions of floats": ({"x": array(3)}, {"dtype": 5}, pm.ProgramError, "dtype float32"),
}

for op_type, replaces in {"cummax": np.greater_equal, "cummin": np.less_equal}.items():
    globals()[f"test_{op_type}"] = op_tests(
        op_type, so_far(replaces), CASES, gradients=["x"], gradient_of=["out"], values_only=VALUES, refusals=REFUSALS
    )
