"""nms: the boxes that overlap no kept box before them."""

import numpy as np

import paddle_mini as pm
from box_overlaps import overlapping, suppressed
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    boxes = inputs["Boxes"]
    kept = suppressed(range(len(boxes)), boxes, np.float32(attrs["iou_threshold"]), 1.0, True)
    return {"KeepBoxesIdxs": np.array(kept, "int64")}


test_nms = op_tests(
    "nms",
    reference,
    cases={
        "a third": ({"Boxes": overlapping(20)}, {"iou_threshold": 0.3}),
        "every overlap": ({"Boxes": overlapping(20)}, {"iou_threshold": 0.0}),
        "all": ({"Boxes": overlapping(5)}, {}),
        "one": ({"Boxes": overlapping(1)}, {}),
        "none": ({"Boxes": overlapping(0)}, {}),
    },
    refusals={
        "five numbers": ({"Boxes": array(3, 5)}, {}, pm.ShapeError, "Boxes [3, 5]"),
        "a vector": ({"Boxes": array(4)}, {}, pm.ShapeError, "Boxes 1 2"),
    },
    open_shapes=True,
)


def test_boxes_of_nan_and_of_no_size_are_kept():
    boxes = np.array([[0, 0, 4, 4], [np.nan, 0, 4, 4], [2, 2, 2, 2], [2, 2, 2, 2], [4, 4, 0, 0]], "float32")
    found = run_op("nms", {"Boxes": boxes}, {"iou_threshold": 0.5})["KeepBoxesIdxs"]
    np.testing.assert_array_equal(found, [0, 1, 2, 3, 4])
