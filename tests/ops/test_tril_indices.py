"""tril_indices, triu_indices: the positions of the elements of a triangle."""

import numpy as np

import paddle_mini as pm
from harness import op_tests

INT32 = {"dtype": 2}


def triangle(numbers, rows, columns):
    def reference(_, attrs):
        positions = numbers(attrs[rows], attrs["offset"], attrs[columns])
        return {"out": np.array(positions, "int32" if attrs["dtype"] == 2 else "int64")}

    return reference


def cases(rows, columns):
    shapes = {"square": (4, 4), "wide": (3, 7), "high": (7, 3), "one element": (1, 1), "no rows": (0, 3), "no columns": (3, 0)}
    found = {
        f"{name}, {offset}": ({}, {rows: shape[0], columns: shape[1], "offset": offset})
        for name, shape in shapes.items()
        for offset in (-9, -2, 0, 1, 9)
    }
    return {**found, "int32": ({}, {rows: 3, columns: 4, **INT32})}


def refusals(rows, columns):
    return {
        "negative": ({}, {rows: -1, columns: 2}, pm.ProgramError, f"{rows} -1"),
        "a float type": ({}, {rows: 2, columns: 2, "dtype": 5}, pm.ProgramError, "dtype float32"),
    }


test_tril_indices = op_tests(
    "tril_indices", triangle(np.tril_indices, "rows", "cols"), cases("rows", "cols"), refusals=refusals("rows", "cols")
)
test_triu_indices = op_tests(
    "triu_indices", triangle(np.triu_indices, "row", "col"), cases("row", "col"), refusals=refusals("row", "col")
)
