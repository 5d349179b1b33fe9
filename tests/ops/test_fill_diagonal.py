"""fill_diagonal: one value on a diagonal; fill_diagonal_tensor: given diagonals in matrices."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    out = inputs["X"].copy()
    rows, columns = out.shape[:2]
    if out.ndim > 2:
        places = [(i,) * (out.ndim - 1) + (i + attrs["offset"],) for i in range(rows)]
        places = [place for place in places if 0 <= place[-1] < columns]
    else:
        period = columns + 1 if attrs["wrap"] else max(rows, columns + 1)
        places = [(i, i % period + attrs["offset"]) for i in range(rows) if i % period < columns]
        places = [(i, j) for i, j in places if 0 <= j < columns]
    for place in places:
        out[place] = attrs["value"]
    return {"Out": out}


test_fill_diagonal = op_tests(
    "fill_diagonal",
    reference,
    cases={
        "square": ({"X": array(4, 4)}, {"value": 2.0}),
        "wide": ({"X": array(3, 5)}, {"value": 2.0, "offset": 1}),
        "high": ({"X": array(7, 3)}, {"value": 2.0}),
        "high, wrapped": ({"X": array(9, 3)}, {"value": 2.0, "wrap": True}),
        "to the left": ({"X": array(5, 3)}, {"value": 2.0, "offset": -1}),
        "cube": ({"X": array(3, 3, 3)}, {"value": 2.0}),
        "one element": ({"X": array(1, 1)}, {}),
        "no rows": ({"X": array(0, 3)}, {}),
        "no columns": ({"X": array(3, 0)}, {}),
    },
    gradients=["X"],
    values_only={"int64": ({"X": ints(3, 4)}, {"value": 7.0})},
    refusals={
        "vector": ({"X": array(4)}, {}, pm.ShapeError, "X [4] 2"),
        "a large number": ({"X": ints(3, 3)}, {"value": 1e20}, pm.ProgramError, "value e+20 int64"),
        "different sizes": ({"X": array(3, 3, 4)}, {}, pm.ShapeError, "X [3, 3, 4] equal"),
    },
)


def filled(inputs, attrs):
    out = inputs["X"].copy()
    matrices = np.moveaxis(out, (attrs["dim1"], attrs["dim2"]), (-2, -1))
    at, offset = np.arange(inputs["Y"].shape[-1]), attrs["offset"]
    matrices[..., at + max(-offset, 0), at + max(offset, 0)] = inputs["Y"]
    return {"Out": out}


test_fill_diagonal_tensor = op_tests(
    "fill_diagonal_tensor",
    filled,
    cases={
        "square": ({"X": array(4, 4), "Y": array(4)}, {}),
        "of many": ({"X": array(2, 4, 5), "Y": array(2, 3)}, {"offset": -1, "dim1": 1, "dim2": 2}),
        "first and last axis": ({"X": array(4, 2, 5), "Y": array(2, 4)}, {"offset": 1, "dim1": 0, "dim2": -1}),
        "one element": ({"X": array(1, 1), "Y": array(1)}, {}),
        "no diagonal": ({"X": array(2, 3), "Y": array(0)}, {"offset": 3}),
    },
    gradients=["X"],
    values_only={"int64": ({"X": ints(3, 3), "Y": ints(3)}, {}), "a row": ({"X": array(4, 4), "Y": array(1, 4)}, {})},
    refusals={
        "other length": ({"X": array(4, 4), "Y": array(3)}, {}, pm.ShapeError, "Y [3] [4]"),
        "other type": ({"X": array(4, 4), "Y": ints(4)}, {}, pm.ShapeError, "X Y"),
    },
)
