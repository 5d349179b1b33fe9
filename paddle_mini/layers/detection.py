# Layers of detection with more than one result; those with one are in ops.py.
from __future__ import annotations

from collections.abc import Sequence

from ..variable import Variable
from .emit import emit_all


def yolo_box(
    x: Variable,
    img_size: Variable,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """The boxes and scores that a YOLO v3 head predicts, one for each anchor and cell.

    Args:
        x: [n, anchors (5 + class_num), rows, columns], with iou_aware 6 in place of 5; float32 or float64.
        img_size: int32 [n, 2], height and width of each image.
        anchors: width and height of each anchor, in pixels.
        class_num: the number of classes.
        conf_thresh: boxes of less confidence are zeros, as are their scores.
        downsample_ratio: pixels of the network's input for each cell.
        clip_bbox: whether boxes are clipped to the image.
        scale_x_y: the scale of the offsets of centers.
        iou_aware: whether x has a channel for each anchor that predicts the overlap, before the others.
        iou_aware_factor: the weight of that overlap in the confidence, from 0 to 1.
    Returns:
        Boxes [n, anchors rows columns, 4], left, top, right, bottom in pixels; scores [n, anchors rows columns, class_num].
    Example:
        >>> x = pm.layers.data("x", [-1, 14, 5, 5])
        >>> img_size = pm.layers.data("img_size", [-1, 2], "int32")
        >>> boxes, scores = pm.layers.yolo_box(x, img_size, [10, 13, 16, 30], 2, 0.01, 32)
        >>> boxes.shape, scores.shape
        ((-1, 50, 4), (-1, 50, 2))
    """
    attrs = {
        "anchors": list(anchors),
        "class_num": class_num,
        "conf_thresh": conf_thresh,
        "downsample_ratio": downsample_ratio,
        "clip_bbox": clip_bbox,
        "scale_x_y": scale_x_y,
        "iou_aware": iou_aware,
        "iou_aware_factor": iou_aware_factor,
    }
    made = emit_all("yolo_box", {"X": x, "ImgSize": img_size}, attrs, name)
    boxes, scores = made["Boxes"], made["Scores"]
    assert isinstance(boxes, Variable) and isinstance(scores, Variable)
    return boxes, scores
