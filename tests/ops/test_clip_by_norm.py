"""clip_by_norm: Out = X max_norm / |X| where |X| > max_norm, else X."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, op_tests


def clipped(x, limit):
    norm = np.sqrt(np.sum(x * x))
    return x * (limit / norm) if norm > limit else x


def reference(inputs, attrs):
    x, limit = inputs["X"], float(np.float32(attrs["max_norm"]))
    if not isinstance(x, Rows):
        return {"Out": clipped(x, limit)}
    touched = sorted(set(x.rows))
    return {"Out": Rows(touched, clipped(x.dense()[touched], limit), x.height)}


test_clip_by_norm = op_tests(
    "clip_by_norm",
    reference,
    cases={
        "too long": ({"X": array(30, 40)}, {"max_norm": 1.5}),
        "short enough": ({"X": array(3, 4)}, {"max_norm": 100.0}),
        "to nothing": ({"X": array(3, 4)}, {"max_norm": 0.0}),
        "nothing": ({"X": np.zeros((3, 4))}, {"max_norm": 0.0}),
        "one element": ({"X": array()}, {"max_norm": 0.1}),
        "no rows": ({"X": array(0, 4)}, {"max_norm": 1.0}),
        "rows that repeat": ({"X": Rows([4, 1, 4], array(3, 5), 6)}, {"max_norm": 0.7}),
        "few rows": ({"X": Rows([4, 1], array(2, 5), 6)}, {"max_norm": 70.0}),
        "no selected rows": ({"X": Rows([], array(0, 5), 6)}, {"max_norm": 1.0}),
    },
    refusals={
        "negative": ({"X": array(3)}, {"max_norm": -1.0}, pm.ProgramError, "max_norm -1"),
        "no limit": ({"X": array(3)}, {}, pm.ProgramError, "max_norm missing"),
    },
)
