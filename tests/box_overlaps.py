"""Boxes that overlap, for the tests of operators that choose among them."""

import numpy as np

from harness import array


def overlapping(*count, seed=0):
    """Boxes of a few places, so that many overlap."""
    corner = array(*count, 2, low=0, high=8, seed=seed)
    return np.concatenate([corner, corner + array(*count, 2, low=2, high=9, seed=seed + 1)], -1)


def area(box, normalized):
    width, height = box[2:] - box[:2]
    return 0 if width < 0 or height < 0 else (width + 1 - normalized) * (height + 1 - normalized)


def overlap(a, b, normalized):
    """Intersection over union."""
    width, height = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    if width < 0 or height < 0:
        return 0.0
    both = (width + 1 - normalized) * (height + 1 - normalized)
    return both / (area(a, normalized) + area(b, normalized) - both)


def suppressed(order, boxes, threshold, eta, normalized):
    """The boxes of an order that overlap no kept one by more than the threshold."""
    kept = []
    for i in order:
        if all(overlap(boxes[i], boxes[k], normalized) <= threshold for k in kept):
            kept.append(i)
            threshold *= eta if eta < 1 and threshold > 0.5 else 1
    return kept


def best_first(scores, least=-np.inf, most=-1):
    order = np.argsort(-scores, kind="stable")
    order = [i for i in order if scores[i] > least]
    return order[:most] if most >= 0 else order
