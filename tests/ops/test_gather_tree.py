"""gather_tree: the complete sequences of a beam search."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    ids, parents = inputs["Ids"], inputs["Parents"]
    out = np.zeros_like(ids)
    for b in range(ids.shape[1]):
        for k in range(ids.shape[2]):
            at = k
            for step in reversed(range(ids.shape[0])):
                out[step, b, k] = ids[step, b, at]
                at = parents[step, b, at]
    return {"Out": out}


test_gather_tree = op_tests(
    "gather_tree",
    reference,
    cases={
        "sequences": ({"Ids": ints(5, 2, 3, high=50), "Parents": ints(5, 2, 3, high=3, seed=1)}, {}),
        "int32": ({"Ids": ints(3, 2, 2, dtype="int32"), "Parents": ints(3, 2, 2, high=2, dtype="int32")}, {}),
        "one element": ({"Ids": ints(1, 1, 1), "Parents": ints(1, 1, 1, high=1)}, {}),
        "no batch": ({"Ids": ints(3, 0, 2), "Parents": ints(3, 0, 2)}, {}),
        "no steps": ({"Ids": ints(0, 2, 2), "Parents": ints(0, 2, 2)}, {}),
        "no beams": ({"Ids": ints(3, 2, 0), "Parents": ints(3, 2, 0)}, {}),
    },
    refusals={
        "no such beam": ({"Ids": ints(2, 1, 1), "Parents": np.array([[[0]], [[1]]])}, {}, pm.OpError, "1 position 1"),
        "negative": ({"Ids": ints(2, 1, 1), "Parents": np.array([[[0]], [[-1]]])}, {}, pm.OpError, "-1 position 1"),
        "other shape": ({"Ids": ints(2, 1, 1), "Parents": ints(2, 1, 2)}, {}, pm.ShapeError, "[2, 1, 1] [2, 1, 2]"),
        "other type": ({"Ids": ints(2, 1, 1), "Parents": array(2, 1, 1)}, {}, pm.ShapeError, "int64 float64"),
        "a matrix": ({"Ids": ints(2, 1), "Parents": ints(2, 1)}, {}, pm.ShapeError, "Ids 2 3"),
    },
)
