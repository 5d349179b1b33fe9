"""yolov3_loss: the loss of the predictions of a YOLO v3 head against true boxes."""

import itertools

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def entropy(x, label):
    return np.maximum(x, 0) - x * label + np.log1p(np.exp(-np.abs(x)))


def overlap(a, b):
    """The overlap of boxes by center and size."""
    width, height = np.minimum(a[:2] + a[2:] / 2, b[:2] + b[2:] / 2) - np.maximum(a[:2] - a[2:] / 2, b[:2] - b[2:] / 2)
    both = 0 if width < 0 or height < 0 else width * height
    return both / (a[2] * a[3] + b[2] * b[3] - both)


def reference(inputs, attrs):
    classes, mask = attrs["class_num"], attrs["anchor_mask"]
    n, _, size, _ = inputs["X"].shape
    x = inputs["X"].reshape(n, len(mask), 5 + classes, size, size)
    anchors = np.reshape(attrs["anchors"], (-1, 2)) / (attrs["downsample_ratio"] * size)
    count = inputs["GTBox"].shape[1]
    scores = inputs.get("GTScore", np.ones((n, count)))
    smooth = min(1 / classes, 1 / 40) if attrs["use_label_smooth"] else 0
    scale = np.float64(np.float32(attrs["scale_x_y"]))
    loss, objects, matches = np.zeros(n), np.zeros((n, len(mask), size, size)), np.full((n, count), -1, "int32")
    for i in range(n):
        boxes = [(t, box) for t, box in enumerate(inputs["GTBox"][i]) if min(box[2:]) >= 1e-6]
        for a, row, column in itertools.product(range(len(mask)), range(size), range(size)):
            t = x[i, a, :, row, column]
            center = (np.array([column, row]) + sigmoid(t[:2]) * scale - 0.5 * (scale - 1)) / size
            found = np.concatenate([center, np.exp(t[2:4]) * anchors[mask[a]]])
            if max([0, *(overlap(found, box) for _, box in boxes)]) > np.float32(attrs["ignore_thresh"]):
                objects[i, a, row, column] = -1
        for b, box in boxes:
            best = np.argmax([overlap(np.array([0, 0, *anchor]), np.array([0, 0, *box[2:]])) for anchor in anchors])
            if best not in mask:
                continue
            a, (column, row), score = mask.index(best), (box[:2] * size).astype(int), scores[i, b]
            matches[i, b], objects[i, a, row, column] = a, score
            t, weight = x[i, a, :, row, column], (2 - box[2] * box[3]) * score
            loss[i] += weight * entropy(t[:2], box[:2] * size - [column, row]).sum()
            loss[i] += weight * np.abs(t[2:4] - np.log(box[2:] / anchors[best])).sum()
            labels = np.where(np.arange(classes) == inputs["GTLabel"][i, b], 1 - smooth, smooth)
            loss[i] += score * entropy(t[5:], labels).sum()
        for mask_of, t in zip(objects[i].reshape(-1), x[i, :, 4].reshape(-1)):
            loss[i] += entropy(t, 1) * mask_of if mask_of > 1e-5 else entropy(t, 0) if mask_of > -0.5 else 0
    return {"Loss": loss, "ObjectnessMask": objects, "GTMatchMask": matches}


ANCHORS = {"anchors": [10, 13, 16, 30, 33, 23, 30, 61], "anchor_mask": [1, 2]}
HEAD = {**ANCHORS, "class_num": 3, "ignore_thresh": 0.3, "downsample_ratio": 8}
BOXES = np.concatenate([array(2, 5, 2, low=0.05, high=0.95), array(2, 5, 2, low=0.2, high=0.9, seed=1)], -1)
BOXES[0, 3] = [0.5, 0.5, 0.0, 0.4]
BOXES[1, 4] = [7.0, 0.0, 0.0, 0.0]  # padding may lie anywhere
INPUTS = {"X": array(2, 16, 5, 5, low=-1, high=1), "GTBox": BOXES, "GTLabel": ints(2, 5, high=3, dtype="int32")}
TWICE = np.array([[[0.5, 0.5, 0.6, 0.6], [0.52, 0.51, 0.62, 0.6]]])


def with_box(*box):
    boxes = BOXES.copy()
    boxes[1, 2] = box
    return {**INPUTS, "GTBox": boxes}


test_yolov3_loss = op_tests(
    "yolov3_loss",
    reference,
    cases={
        "three classes": (INPUTS, HEAD),
        "hard labels": (INPUTS, {**HEAD, "use_label_smooth": False}),
        "scores": ({**INPUTS, "GTScore": array(2, 5, low=0.2, high=1)}, HEAD),
        "a score of 0": ({**INPUTS, "GTScore": np.zeros((2, 5))}, HEAD),
        "scaled offsets": (INPUTS, {**HEAD, "scale_x_y": 1.25}),
        "labels of no class": ({**INPUTS, "GTLabel": INPUTS["GTLabel"] - 9}, HEAD),
        "one class": (
            {**INPUTS, "X": INPUTS["X"][:, :6], "GTLabel": INPUTS["GTLabel"] * 0},
            {**HEAD, "class_num": 1, "anchor_mask": [2]},
        ),
        "no boxes": ({**INPUTS, "GTBox": BOXES[:, :0], "GTLabel": INPUTS["GTLabel"][:, :0]}, HEAD),
        "two boxes of one cell": ({"X": INPUTS["X"][:1], "GTBox": TWICE, "GTLabel": np.array([[0, 2]], "int32")}, HEAD),
    },
    gradients=["X"],
    gradient_of=["Loss"],
    refusals={
        "channels": ({**INPUTS, "X": array(2, 15, 5, 5)}, HEAD, pm.ShapeError, "X [2, 15, 5, 5] 16 channels"),
        "no cells": ({**INPUTS, "X": array(2, 16, 0, 0)}, HEAD, pm.ShapeError, "X [2, 16, 0, 0] at least one"),
        "not square": ({**INPUTS, "X": array(2, 16, 5, 4)}, HEAD, pm.ShapeError, "X [2, 16, 5, 4] rows columns"),
        "other images": ({**INPUTS, "GTBox": BOXES[:1]}, HEAD, pm.ShapeError, "GTBox [1, 5, 4] [2, boxes, 4]"),
        "labels of int64": ({**INPUTS, "GTLabel": ints(2, 5)}, HEAD, pm.ShapeError, "GTLabel int64 int32"),
        "labels": ({**INPUTS, "GTLabel": ints(2, 4, dtype="int32")}, HEAD, pm.ShapeError, "GTLabel [2, 4] [2, 5]"),
        "scores": ({**INPUTS, "GTScore": array(2, 4)}, HEAD, pm.ShapeError, "GTScore [2, 4] [2, 5]"),
        "no anchors": (INPUTS, {**HEAD, "anchors": []}, pm.ProgramError, "'anchors' 0"),
        "half an anchor": (INPUTS, {**HEAD, "anchors": [1, 2, 3]}, pm.ProgramError, "'anchors' 3"),
        "an anchor of 0": (INPUTS, {**HEAD, "anchors": [1, 0, 3, 4]}, pm.ProgramError, "'anchors' 0"),
        "another anchor": (INPUTS, {**HEAD, "anchor_mask": [1, 4]}, pm.ProgramError, "'anchor_mask' 4 4 anchors"),
        "no mask": (INPUTS, {**HEAD, "anchor_mask": []}, pm.ProgramError, "'anchor_mask' empty"),
        "right of the image": (with_box(1.0, 0.5, 0.2, 0.2), HEAD, pm.OpError, "GTBox 1, 0.5 box 2 image 1 below 1"),
        "above the image": (with_box(0.5, -0.1, 0.2, 0.2), HEAD, pm.OpError, "GTBox -0.1 box 2 image 1"),
        "NaN": (with_box(np.nan, 0.5, 0.2, 0.2), HEAD, pm.OpError, "GTBox nan box 2 image 1"),
        "infinite": (with_box(0.5, 0.5, np.inf, 0.2), HEAD, pm.OpError, "GTBox inf finite"),
    },
    tolerance={"float32": 1e-5},
)


@pytest.mark.parametrize("match", [-2, 2, 2**31 - 1])
def test_the_gradient_refuses_matches_of_no_anchor(match):
    found = run_op("yolov3_loss", INPUTS, HEAD, ["Loss", "ObjectnessMask", "GTMatchMask"])
    inputs = {**INPUTS, **found, "Loss@GRAD": np.ones(2)}
    del inputs["Loss"]
    inputs["GTMatchMask"] = np.full((2, 5), match, "int32")
    with pytest.raises(pm.OpError, match=f"GTMatchMask has {match} for box 0 of image 0"):
        run_op("yolov3_loss_grad", inputs, HEAD, ["X@GRAD"])
