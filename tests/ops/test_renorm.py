"""renorm: slices with limited norms."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    slices = np.moveaxis(inputs["X"], attrs["axis"], 0)
    p, most = float(np.float32(attrs["p"])), float(np.float32(attrs["max_norm"]))
    norms = (np.abs(slices) ** p).sum(tuple(range(1, slices.ndim)), keepdims=True) ** (1 / p)
    return {"Out": np.moveaxis(np.where(norms > most, slices * most / (norms + 1e-7), slices), 0, attrs["axis"])}


X = {"X": array(3, 4)}

test_renorm = op_tests(
    "renorm",
    reference,
    cases={
        "rows": (X, {"p": 2.0, "axis": 0, "max_norm": 1.0}),
        "columns": (X, {"p": 2.0, "axis": 1, "max_norm": 1.5}),
        "all of them": (X, {"p": 1.0, "axis": 0, "max_norm": 0.1}),
        "none of them": (X, {"p": 2.0, "axis": 0, "max_norm": 100.0}),
        "third power": ({"X": array(2, 3, 4)}, {"p": 3.0, "axis": 1, "max_norm": 1.0}),
        "last axis": ({"X": array(2, 3, 4)}, {"p": 1.5, "axis": -1, "max_norm": 1.0}),
        "one element": ({"X": array(1, 1)}, {"p": 2.0, "axis": 0, "max_norm": 0.5}),
        "no columns": ({"X": array(3, 0)}, {"p": 2.0, "axis": 0, "max_norm": 1.0}),
        "no rows": ({"X": array(0, 3)}, {"p": 2.0, "axis": 0, "max_norm": 1.0}),
    },
    gradients=["X"],
    values_only={"zeros": ({"X": np.zeros((2, 3))}, {"p": 2.0, "axis": 0, "max_norm": 0.0})},
    refusals={
        "vector": ({"X": array(4)}, {"p": 2.0, "axis": 0, "max_norm": 1.0}, pm.ShapeError, "X [4] 2"),
        "no such axis": (X, {"p": 2.0, "axis": 2, "max_norm": 1.0}, pm.ShapeError, "axis 2"),
        "exponent 0": (X, {"p": 0.0, "axis": 0, "max_norm": 1.0}, pm.ProgramError, "p 0"),
        "negative norm": (X, {"p": 2.0, "axis": 0, "max_norm": -1.0}, pm.ProgramError, "max_norm -1"),
    },
)
