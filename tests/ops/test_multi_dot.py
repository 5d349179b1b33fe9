"""multi_dot: the product of several matrices."""

import functools
import itertools

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def chain(*sizes, first=None, last=None):
    matrices = [array(a, b, seed=i) for i, (a, b) in enumerate(itertools.pairwise(sizes))]
    return {"X": [*([array(first, seed=8)] if first else []), *matrices, *([array(last, seed=9)] if last else [])]}


test_multi_dot = op_tests(
    "multi_dot",
    lambda inputs, attrs: {"Out": functools.reduce(np.matmul, inputs["X"])},
    cases={
        "two": (chain(2, 3, 4), {}),
        "three": (chain(2, 3, 4, 5), {}),
        "right first": (chain(5, 4, 3, 1), {}),
        "five": (chain(3, 5, 2, 6, 1, 4), {}),
        "a row": (chain(3, 2, 4, first=3), {}),
        "a column": (chain(3, 2, 4, last=4), {}),
        "a row and a column": (chain(3, 2, first=3, last=2), {}),
        "two vectors": ({"X": [array(3), array(3, seed=1)]}, {}),
        "no rows": (chain(0, 3, 2), {}),
        "nothing between": (chain(2, 0, 3), {}),
    },
    gradients=["X"],
    refusals={
        "one": (chain(2, 3), {}, pm.ShapeError, "1 variables at least 2"),
        "rows": ({"X": [array(2, 3), array(2, 3)]}, {}, pm.ShapeError, "variable 0 [2, 3] variable 1 2 rows, not 3"),
        "a vector within": ({"X": [array(2, 3), array(3), array(3, 2)]}, {}, pm.ShapeError, "variable 1 [3] 2 dimensions"),
        "three dimensions": ({"X": [array(2, 2, 2), array(2, 2)]}, {}, pm.ShapeError, "variable 0 [2, 2, 2] 1 or 2"),
        "integers": ({"X": [ints(2, 2), ints(2, 2)]}, {}, pm.Error, "int64"),
    },
    tolerance={"float32": 1e-5},
)
