"""yolo_box: boxes and scores of the predictions of a YOLO v3 head."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def reference(inputs, attrs):
    x, sizes = inputs["X"], inputs["ImgSize"]
    anchors = np.reshape(attrs["anchors"], (-1, 2)).astype("float64")
    n, _, rows, columns = x.shape
    first = len(anchors) if attrs["iou_aware"] else 0
    t = x[:, first:].reshape(n, len(anchors), 5 + attrs["class_num"], rows, columns)
    confidence = sigmoid(t[:, :, 4])
    if attrs["iou_aware"]:
        factor = np.float32(attrs["iou_aware_factor"])
        confidence = confidence ** (1 - factor) * sigmoid(x[:, :first]) ** factor
    image = sizes[:, None, None, None, ::-1].astype("float64")  # width, height
    cells = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), -1)
    scale, grid = np.float64(np.float32(attrs["scale_x_y"])), np.array([columns, rows])
    center = (cells + np.moveaxis(sigmoid(t[:, :, :2]), 2, -1) * scale - 0.5 * (scale - 1)) * image / grid
    size = np.exp(np.moveaxis(t[:, :, 2:4], 2, -1)) * anchors[:, None, None] * image / (attrs["downsample_ratio"] * grid)
    low, high = center - size / 2, center + size / 2
    if attrs["clip_bbox"]:
        low, high = np.maximum(low, 0), np.minimum(high, image - 1)
    kept = (confidence >= np.float32(attrs["conf_thresh"]))[..., None]
    boxes = np.where(kept, np.concatenate([low, high], -1), 0)
    scores = np.where(kept, confidence[..., None] * np.moveaxis(sigmoid(t[:, :, 5:]), 2, -1), 0)
    return {
        "Boxes": boxes.reshape(n, len(anchors) * rows * columns, 4),
        "Scores": scores.reshape(n, len(anchors) * rows * columns, attrs["class_num"]),
    }


TWO = {"anchors": [10, 13, 16, 30], "class_num": 3, "conf_thresh": 0.4, "downsample_ratio": 8}
SIZES = np.array([[40, 60], [90, 30]], "int32")
X = array(2, 16, 3, 5, low=-2, high=2)

test_yolo_box = op_tests(
    "yolo_box",
    reference,
    cases={
        "two anchors": ({"X": X, "ImgSize": SIZES}, TWO),
        "not clipped": ({"X": X, "ImgSize": SIZES}, {**TWO, "clip_bbox": False}),
        "scaled offsets": ({"X": X, "ImgSize": SIZES}, {**TWO, "scale_x_y": 1.25}),
        "overlap predicted": (
            {"X": array(2, 18, 3, 5, low=-2, high=2), "ImgSize": SIZES},
            {**TWO, "iou_aware": True, "iou_aware_factor": 0.25},
        ),
        "one class": ({"X": array(1, 6, 2, 2), "ImgSize": SIZES[:1]}, {"anchors": [10, 13]}),
        "no images": ({"X": array(0, 16, 3, 5), "ImgSize": SIZES[:0]}, TWO),
    },
    tolerance={"float32": 1e-5},
    refusals={
        "channels": (
            {"X": array(2, 15, 3, 5), "ImgSize": SIZES},
            TWO,
            pm.ShapeError,
            "X [2, 15, 3, 5] 2 anchors 3 classes 16 channels",
        ),
        "no anchors": ({"X": X, "ImgSize": SIZES}, {}, pm.ProgramError, "'anchors' 0"),
        "half an anchor": ({"X": X, "ImgSize": SIZES}, {**TWO, "anchors": [1, 2, 3]}, pm.ProgramError, "'anchors' 3"),
        "images": ({"X": X, "ImgSize": SIZES[:1]}, TWO, pm.ShapeError, "ImgSize [1, 2] [2, 2]"),
        "sizes of int64": ({"X": X, "ImgSize": ints(2, 2)}, TWO, pm.ShapeError, "ImgSize int64 int32"),
        "factor": ({"X": X, "ImgSize": SIZES}, {**TWO, "iou_aware_factor": 2.0}, pm.ProgramError, "'iou_aware_factor' 2"),
    },
)
