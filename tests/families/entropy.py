# Shared parts of the tests of cross_entropy and cross_entropy2.
from __future__ import annotations

from typing import Any

import numpy as np

import paddle_mini as pm
from harness import Cases, array, ints


def probabilities(*shape: int) -> np.ndarray:
    return array(*shape, low=0.05, high=1)


CASES: Cases = {
    "rows": ({"X": probabilities(6, 5), "Label": ints(6, 1, high=5)}, {}),
    "int32": ({"X": probabilities(6, 5), "Label": ints(6, 1, high=5, dtype="int32")}, {}),
    "labels without last dimension": ({"X": probabilities(2, 3, 5), "Label": ints(2, 3, high=5)}, {}),
    "labels with last dimension": ({"X": probabilities(2, 3, 5), "Label": ints(2, 3, 1, high=5)}, {}),
    "ignored": ({"X": probabilities(4, 5), "Label": np.array([[1], [-100], [0], [-100]])}, {}),
    "ignored class": ({"X": probabilities(3, 5), "Label": np.array([[1], [2], [0]])}, {"ignore_index": 2}),
    "one element": ({"X": probabilities(1, 1), "Label": np.array([[0]])}, {}),
    "no rows": ({"X": array(0, 4), "Label": ints(0, 1)}, {}),
}

REFUSALS: dict[str, Any] = {
    "label too large": ({"X": probabilities(3, 5), "Label": np.array([[1], [5], [0]])}, {}, pm.OpError, "label 5 row 1"),
    "negative label": ({"X": probabilities(3, 5), "Label": np.array([[1], [2], [-1]])}, {}, pm.OpError, "label -1 row 2"),
    "too few labels": ({"X": probabilities(3, 5), "Label": ints(2, 1)}, {}, pm.ShapeError, "Label [2, 1] X [3, 5]"),
    "float label": ({"X": probabilities(3, 5), "Label": array(3, 1)}, {}, pm.ShapeError, "Label float64"),
}
