"""iou_similarity: Out = the overlap of each box in X with each box in Y."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def reference(inputs, attrs):
    x, y, border = inputs["X"][:, None], inputs["Y"][None], 0 if attrs["box_normalized"] else 1
    size = np.minimum(x[..., 2:], y[..., 2:]) - np.maximum(x[..., :2], y[..., :2]) + border
    both = size.clip(0).prod(-1)
    areas = [(boxes[..., 2:] - boxes[..., :2] + border).prod(-1) for boxes in (x, y)]
    return {"Out": both / (areas[0] + areas[1] - both + 1e-10)}


def boxes(count, seed=0):
    corner = array(count, 2, low=0, high=4, seed=seed)
    return np.concatenate([corner, corner + array(count, 2, low=0.5, high=4, seed=seed + 1)], 1)


test_iou_similarity = op_tests(
    "iou_similarity",
    reference,
    cases={
        "boxes": ({"X": boxes(5), "Y": boxes(7, 2)}, {}),
        "of pixels": ({"X": boxes(5), "Y": boxes(7, 2)}, {"box_normalized": False}),
        "the same": ({"X": boxes(3), "Y": boxes(3)}, {}),
        "apart": ({"X": boxes(2), "Y": boxes(2) + 20}, {}),
        "empty boxes": ({"X": np.ones((2, 4)), "Y": np.ones((1, 4))}, {}),
        "no boxes": ({"X": array(0, 4), "Y": boxes(2)}, {}),
    },
    refusals={
        "not boxes": ({"X": array(2, 3), "Y": boxes(2)}, {}, pm.ShapeError, "X [2, 3]"),
        "integers": ({"X": ints(2, 4), "Y": ints(2, 4)}, {}, pm.Error, "int64"),
    },
)
