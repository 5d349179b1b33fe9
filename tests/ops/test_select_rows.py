"""select_rows: the rows of a table that selected rows name."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, op_tests


def reference(inputs, attrs):
    rows = inputs["Rows"]
    return {"Out": Rows(rows.rows, inputs["X"][list(rows.rows)], rows.height)}


def named(rows, *shape, height):
    return Rows(rows, np.full((len(rows), *shape), np.nan), height)


test_select_rows = op_tests(
    "select_rows",
    reference,
    cases={
        "some": ({"X": array(5, 7), "Rows": named([3, 0], 7, height=5)}, {}),
        "repeated": ({"X": array(5, 2, 3), "Rows": named([4, 1, 4, 4], 2, 3, height=5)}, {}),
        "numbers": ({"X": array(4), "Rows": named([2], height=4)}, {}),
        "none": ({"X": array(5, 7), "Rows": named([], 7, height=5)}, {}),
    },
    refusals={
        "no selected rows": ({"X": array(5, 7), "Rows": array(5, 7)}, {}, pm.ShapeError, "Rows selected rows"),
        "another table": ({"X": array(5, 7), "Rows": named([1], 7, height=6)}, {}, pm.ShapeError, "X [5, 7] [6, 7]"),
    },
)
