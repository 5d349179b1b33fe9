# Layers of detectors with more than one result: anchors, boxes of predictions, the loss of YOLO v3. Those with one result
# are in ops.py.
from __future__ import annotations

from collections.abc import Sequence

from .._core import ProgramError
from ..errors import shown
from ..variable import Variable
from .emit import emit, emit_ports, refuse


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
    boxes, scores = emit_ports("yolo_box", {"X": x, "ImgSize": img_size}, attrs, name, "Boxes", "Scores")
    return boxes, scores


def yolov3_loss(
    x: Variable,
    gt_box: Variable,
    gt_label: Variable,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Variable | None = None,
    use_label_smooth: bool = True,
    scale_x_y: float = 1.0,
    name: str | None = None,
) -> Variable:
    """The loss of the predictions of a YOLO v3 head against true boxes, one for each image.

    Args:
        x: [n, anchors of anchor_mask (5 + class_num), size, size]; float32 or float64.
        gt_box: [n, boxes, 4], center x, center y, width, height as parts of the image; a box of size 0 is padding.
        gt_label: int32 [n, boxes], the classes.
        anchors: width and height of each anchor, in pixels.
        anchor_mask: the anchors that x predicts for.
        class_num: the number of classes.
        ignore_thresh: the overlap with a true box above which a prediction's objectness does not count.
        downsample_ratio: pixels of the network's input for each cell.
        gt_score: [n, boxes], the weights of the boxes; None: 1.
        use_label_smooth: whether labels are min(1 / class_num, 1 / 40) away from 0 and 1.
        scale_x_y: the scale of the offsets of centers.
    Returns:
        [n].
    Example:
        >>> x, box = pm.layers.data("x", [-1, 14, 5, 5]), pm.layers.data("box", [-1, 3, 4])
        >>> label = pm.layers.data("label", [-1, 3], "int32")
        >>> pm.layers.yolov3_loss(x, box, label, [10, 13, 16, 30, 33, 23], [0, 1], 2, 0.7, 32).shape
        (-1,)
    """
    attrs = {
        "anchors": list(anchors),
        "anchor_mask": list(anchor_mask),
        "class_num": class_num,
        "ignore_thresh": ignore_thresh,
        "downsample_ratio": downsample_ratio,
        "use_label_smooth": use_label_smooth,
        "scale_x_y": scale_x_y,
    }
    return emit("yolov3_loss", {"X": x, "GTBox": gt_box, "GTLabel": gt_label, "GTScore": gt_score}, attrs, name=name)


def prior_box(
    input: Variable,
    image: Variable,
    min_sizes: Sequence[float],
    max_sizes: Sequence[float] | None = None,
    aspect_ratios: Sequence[float] = (1.0,),
    variance: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    flip: bool = False,
    clip: bool = False,
    steps: Sequence[float] = (0.0, 0.0),
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """Boxes of several sizes and proportions around every cell of a feature map, as parts of the image (SSD).

    Args:
        input: [n, channels, rows, columns], the feature map.
        image: [n, channels, height, width].
        min_sizes: sizes of boxes, in pixels of the image.
        max_sizes: larger sizes, one for each of min_sizes, which give squares of the geometric mean; None: no such squares.
        aspect_ratios: width by height of boxes, besides 1.
        variance: four numbers that are written beside each box.
        flip: whether there is a box of the inverse of each ratio too.
        clip: whether boxes are clipped to the image.
        steps: pixels between columns and between rows; 0: the image's size by that of the map.
        offset: the center of the first cell, in cells.
        min_max_aspect_ratios_order: whether the larger square comes second, not last, among the boxes of a size.
    Returns:
        Boxes [rows, columns, boxes, 4], left, top, right, bottom; variances of that shape.
    Example:
        >>> input, image = pm.layers.data("input", [-1, 8, 3, 3]), pm.layers.data("image", [-1, 3, 48, 48])
        >>> boxes, variances = pm.layers.prior_box(input, image, [16.0], [24.0], [2.0], flip=True)
        >>> boxes.shape
        (3, 3, 4, 4)
    """
    step_w, step_h = _two_steps("prior_box", steps)
    attrs = {
        "min_sizes": list(min_sizes),
        "max_sizes": list(max_sizes or ()),
        "aspect_ratios": list(aspect_ratios),
        "variances": list(variance),
        "flip": flip,
        "clip": clip,
        "step_w": step_w,
        "step_h": step_h,
        "offset": offset,
        "min_max_aspect_ratios_order": min_max_aspect_ratios_order,
    }
    boxes, variances = emit_ports("prior_box", {"Input": input, "Image": image}, attrs, name, "Boxes", "Variances")
    return boxes, variances


def density_prior_box(
    input: Variable,
    image: Variable,
    densities: Sequence[int],
    fixed_sizes: Sequence[float],
    fixed_ratios: Sequence[float],
    variance: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    clip: bool = False,
    steps: Sequence[float] = (0.0, 0.0),
    offset: float = 0.5,
    flatten_to_2d: bool = False,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """Boxes of several sizes and proportions, several of each side by side in every cell of a feature map, as parts of the
    image (FaceBoxes).

    Args:
        input: [n, channels, rows, columns], the feature map.
        image: [n, channels, height, width].
        densities: for each of fixed_sizes, how many boxes side by side: 2 makes 4 boxes of a cell.
        fixed_sizes: sizes of boxes, in pixels of the image.
        fixed_ratios: width by height of boxes.
        variance: four numbers that are written beside each box.
        clip: whether all sides are clipped to the image; else the left and upper ones are at least 0, the others at most 1.
        steps: pixels between columns, and between rows; 0: the image's size by the feature map's.
        offset: the center of the first cell, in cells.
        flatten_to_2d: whether the result is [rows columns boxes, 4].
    Returns:
        Boxes [rows, columns, boxes, 4], left, top, right, bottom; variances of that shape.
    Example:
        >>> input, image = pm.layers.data("input", [-1, 8, 3, 3]), pm.layers.data("image", [-1, 3, 96, 96])
        >>> boxes, variances = pm.layers.density_prior_box(input, image, [2, 1], [16.0, 32.0], [1.0])
        >>> boxes.shape
        (3, 3, 5, 4)
    """
    step_w, step_h = _two_steps("density_prior_box", steps)
    attrs = {
        "densities": list(densities),
        "fixed_sizes": list(fixed_sizes),
        "fixed_ratios": list(fixed_ratios),
        "variances": list(variance),
        "clip": clip,
        "step_w": step_w,
        "step_h": step_h,
        "offset": offset,
        "flatten_to_2d": flatten_to_2d,
    }
    boxes, variances = emit_ports("density_prior_box", {"Input": input, "Image": image}, attrs, name, "Boxes", "Variances")
    return boxes, variances


def _two_steps(layer: str, steps: Sequence[float]) -> Sequence[float]:
    if len(steps) != 2:
        refuse(ProgramError, f"{layer}: steps are {shown(steps)}, they must be 2 numbers")
    return steps


def anchor_generator(
    input: Variable,
    anchor_sizes: Sequence[float],
    aspect_ratios: Sequence[float],
    variance: Sequence[float] = (0.1, 0.1, 0.2, 0.2),
    stride: Sequence[float] = (16.0, 16.0),
    offset: float = 0.5,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """Boxes of several sizes and proportions around every cell of a feature map, in pixels of the image (Faster R-CNN).

    Args:
        input: [n, channels, rows, columns], the feature map.
        anchor_sizes: sizes of boxes, in pixels.
        aspect_ratios: height by width of boxes.
        variance: four numbers that are written beside each box.
        stride: pixels between columns, and between rows.
        offset: the center of the first cell, in cells.
    Returns:
        Boxes [rows, columns, boxes, 4], left, top, right, bottom; variances of that shape.
    Example:
        >>> input = pm.layers.data("input", [-1, 8, 3, 3])
        >>> anchors, variances = pm.layers.anchor_generator(input, [32.0, 64.0], [0.5, 1.0, 2.0])
        >>> anchors.shape
        (3, 3, 6, 4)
    """
    attrs = {
        "anchor_sizes": list(anchor_sizes),
        "aspect_ratios": list(aspect_ratios),
        "variances": list(variance),
        "stride": list(stride),
        "offset": offset,
    }
    anchors, variances = emit_ports("anchor_generator", {"Input": input}, attrs, name, "Anchors", "Variances")
    return anchors, variances
