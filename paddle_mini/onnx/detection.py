# Converters of operators on boxes of objects in images.
from __future__ import annotations

import numpy as np

from ..variable import Variable
from .math import select
from .node import Node, converter
from .tensors import Unsupported

_LEAST = float(np.finfo(np.float32).min)


@converter("NonMaxSuppression")
def suppress(n: Node) -> Variable:
    """Rows of image, class and box, the best box of each class first."""
    boxes, scores = _corners(n, n.x(0)), n.x(1)
    overlap, least = (float(n.known(index).item()) if n.has(index) else default for index, default in ((3, 0.0), (4, _LEAST)))
    attrs = {"nms_threshold": overlap, "score_threshold": least, "nms_top_k": -1, "keep_top_k": -1, "background_label": -1}
    ports = ["Out", "Index", "NmsRoisNum"]
    kept, index, _ = n.emit("multiclass_nms3", {"BBoxes": boxes, "Scores": scores}, attrs, ports)
    label = n.cast(n.emit("slice", {"Input": kept}, {"axes": [1], "starts": [0], "ends": [1]}), "int64")
    count = n.sizes(boxes, 1, 2)
    index = n.cast(index, "int64")
    image = n.op("elementwise_floordiv", index, count)
    rows = n.emit("concat", {"X": [image, label, n.sub(index, n.mul(image, count))]}, {"axis": 1})
    # The place of a row among those of its class: its number minus that of the first one.
    group = n.reshape(n.add(n.mul(image, n.sizes(scores, 1, 2)), label), [-1])
    first = n.emit("searchsorted", {"SortedSequence": group, "Values": group}, {"out_int32": False})
    ones = n.emit("fill_any_like", {"X": group}, {"value": 1.0})
    place = n.sub(n.op("cumsum", ones, axis=0, exclusive=True), first)
    most = n.cast(n.x(2), "int64") if n.has(2) else n.constant(0, "int64")
    wanted = n.emit("where_index", {"Condition": n.op("less_than", place, n.reshape(most, []))})
    return n.emit("gather", {"X": rows, "Index": n.reshape(wanted, [-1])}, {"axis": 0})


def _corners(n: Node, boxes: Variable) -> Variable:
    """Boxes given by any two opposite corners, or by a center and sizes, as the corners of the least and the largest values."""
    parts = [n.emit("slice", {"Input": boxes}, {"axes": [2], "starts": [i], "ends": [i + 2]}) for i in (0, 2)]
    if n.attr("center_point_box"):
        half = n.scale(parts[1], 0.5)
        parts = [n.sub(parts[0], half), n.add(parts[0], half)]
    low, high = n.op("elementwise_min", *parts), n.op("elementwise_max", *parts)
    made = n.emit("concat", {"X": [low, high]}, {"axis": 2})
    # Boxes without area overlap nothing: so do those that end before they begin.
    empty = n.op("reduce_any", n.op("less_equal", high, low), dim=[2], keep_dim=True)
    return select(n, empty, n.constant([np.inf, np.inf, -np.inf, -np.inf], boxes.dtype), made)


@converter("RoiAlign")
def roi_align(n: Node) -> Variable:
    x, images = n.x(0), n.cast(n.x(2), "int64")
    if n.attr("mode") != "avg":
        raise Unsupported(f"mode {n.attr('mode')}")
    # The operator has the regions of one image after those of another.
    _, order = n.emit("argsort", {"X": images}, {"axis": 0}, ["Out", "Indices"])
    _, back = n.emit("argsort", {"X": order}, {"axis": 0}, ["Out", "Indices"])
    regions = n.emit("gather", {"X": n.x(1), "Index": order}, {"axis": 0})
    numbers = n.emit("range", {"Start": n.constant([0], "int64"), "End": n.sizes(x, 0, 1), "Step": n.constant([1], "int64")})
    of_image = n.cast(n.op("equal", n.reshape(numbers, [-1, 1]), n.reshape(images, [1, -1])), "int64")
    attrs = {
        "pooled_height": n.attr("output_height"),
        "pooled_width": n.attr("output_width"),
        "spatial_scale": n.attr("spatial_scale"),
        "sampling_ratio": n.attr("sampling_ratio"),
        "aligned": n.version >= 16 and n.attr("coordinate_transformation_mode") == "half_pixel",
    }
    counts = n.op("reduce_sum", of_image, dim=[1])
    made = n.emit("roi_align", {"X": x, "ROIs": regions, "RoisNum": counts}, attrs)
    return n.emit("gather", {"X": made, "Index": back}, {"axis": 0})
