"""diagonal: the diagonals of matrices; diag_embed: matrices with given diagonals."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    return {"Out": np.diagonal(inputs["Input"], attrs["offset"], attrs["axis1"], attrs["axis2"])}


test_diagonal = op_tests(
    "diagonal",
    reference,
    cases={
        "square": ({"Input": array(4, 4)}, {}),
        "above": ({"Input": array(4, 5)}, {"offset": 2}),
        "below": ({"Input": array(4, 5)}, {"offset": -1}),
        "of many": ({"Input": array(2, 3, 4)}, {"axis1": -2, "axis2": -1}),
        "first and last axis": ({"Input": array(2, 3, 4)}, {"offset": 1, "axis1": 0, "axis2": 2}),
        "axes the other way round": ({"Input": array(2, 3, 4)}, {"offset": 1, "axis1": 2, "axis2": 0}),
        "beyond the matrix": ({"Input": array(2, 3)}, {"offset": 3}),
        "one element": ({"Input": array(1, 1)}, {}),
        "no rows": ({"Input": array(0, 3)}, {}),
    },
    gradients=["Input"],
    values_only={"int64": ({"Input": ints(3, 4)}, {}), "bool": ({"Input": ints(3, 4) > 4}, {"offset": 1})},
    refusals={
        "vector": ({"Input": array(4)}, {}, pm.ShapeError, "Input [4] 2"),
        "equal axes": ({"Input": array(4, 4)}, {"axis1": 1, "axis2": -1}, pm.ShapeError, "axis1 axis2 1"),
        "no such axis": ({"Input": array(4, 4)}, {"axis1": 2}, pm.ShapeError, "axis1 2"),
    },
)


def embedded(inputs, attrs):
    x, offset = inputs["Input"], attrs["offset"]
    size, rank = x.shape[-1] + abs(offset), x.ndim + 1
    out = np.zeros((*x.shape[:-1], size, size), x.dtype)
    at = np.arange(x.shape[-1])
    out[..., at + max(-offset, 0), at + max(offset, 0)] = x
    return {"Out": np.moveaxis(out, (-2, -1), (attrs["dim1"] % rank, attrs["dim2"] % rank))}


test_diag_embed = op_tests(
    "diag_embed",
    embedded,
    cases={
        "vector": ({"Input": array(3)}, {}),
        "above": ({"Input": array(2, 3)}, {"offset": 2}),
        "below": ({"Input": array(2, 3)}, {"offset": -1}),
        "first axes": ({"Input": array(2, 3)}, {"dim1": 0, "dim2": 1}),
        "axes the other way round": ({"Input": array(2, 3)}, {"offset": 1, "dim1": 2, "dim2": 0}),
        "one element": ({"Input": array(1)}, {}),
        "no elements": ({"Input": array(2, 0)}, {}),
    },
    gradients=["Input"],
    values_only={"int32": ({"Input": ints(3)}, {})},
    refusals={
        "a number": ({"Input": array()}, {}, pm.ShapeError, "Input 0"),
        "equal axes": ({"Input": array(3)}, {"dim1": 1, "dim2": 1}, pm.ShapeError, "dim1 dim2"),
    },
)
