"""masked_select: Y = the elements of X where Mask is true; their number depends on data."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def mask(*shape, seed=0):
    return ints(*shape, high=2, seed=seed).astype(bool)


def reference(inputs, attrs):
    x, m = np.broadcast_arrays(inputs["X"], inputs["Mask"])
    return {"Y": x[m].reshape(-1)}


test_masked_select = op_tests(
    "masked_select",
    reference,
    cases={
        "matrix": ({"X": array(3, 4), "Mask": mask(3, 4)}, {}),
        "broadcast mask": ({"X": array(3, 4), "Mask": mask(4)}, {}),
        "mask of one column": ({"X": array(3, 4), "Mask": mask(3, 1, seed=1)}, {}),
        "broadcast X": ({"X": array(1, 4), "Mask": mask(2, 3, 4)}, {}),
        "both broadcast": ({"X": array(3, 1, 2), "Mask": mask(5, 1)}, {}),
        "nothing": ({"X": array(3, 4), "Mask": np.zeros((3, 4), bool)}, {}),
        "everything": ({"X": array(3, 4), "Mask": np.ones((3, 4), bool)}, {}),
        "no rows": ({"X": array(0, 4), "Mask": mask(0, 4)}, {}),
        "one element": ({"X": array(), "Mask": np.array(True)}, {}),
    },
    gradients=["X"],
    refusals={
        "other shape": ({"X": array(3, 4), "Mask": mask(3)}, {}, pm.ShapeError, "[3, 4] [3]"),
        "number mask": ({"X": array(3), "Mask": ints(3)}, {}, pm.ShapeError, "Mask int64 bool"),
    },
    open_shapes=True,
)

test_sequences_go_away = op_tests(
    "masked_select",
    lambda inputs, attrs: reference({**inputs, "X": inputs["X"].array}, attrs),
    cases={"as many elements as rows": ({"X": pm.LoDTensor(array(3), [[0, 1, 3]]), "Mask": np.ones(3, bool)}, {})},
    open_shapes=True,
)

test_whole_numbers = op_tests(
    "masked_select",
    reference,
    cases={"int64": ({"X": ints(5), "Mask": mask(5)}, {}), "int32": ({"X": ints(2, 3, dtype="int32"), "Mask": mask(2, 3)}, {})},
    open_shapes=True,
)
