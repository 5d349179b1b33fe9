# Layers of region proposals: boxes of images, and of the levels of a feature pyramid.
from __future__ import annotations

from collections.abc import Sequence

from ..variable import Variable
from .emit import emit_all, emit_ports, whole


def generate_proposals(
    scores: Variable,
    bbox_deltas: Variable,
    img_size: Variable,
    anchors: Variable,
    variances: Variable,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    name: str | None = None,
) -> tuple[Variable, Variable, Variable]:
    """The best boxes of a region proposal network that do not overlap.

    Args:
        scores: [n, anchors, rows, columns].
        bbox_deltas: [n, 4 anchors, rows, columns], offsets from the anchors.
        img_size: [n, 2], height and width of each image.
        anchors: [rows, columns, anchors, 4], as anchor_generator gives them.
        variances: what the offsets are multiplied by, in the shape of anchors.
        pre_nms_top_n: candidates of an image, the largest scores; 0: all.
        post_nms_top_n: boxes of an image; 0: all.
        nms_thresh: the largest overlap with a better box, intersection over union.
        min_size: the least width and height, at least 1.
        eta: below 1: the threshold is multiplied by it for each kept box, while above 0.5.
        pixel_offset: whether the ends of boxes are pixels inside of them.
    Returns:
        Boxes [kept, 4], their scores [kept, 1], both with a sequence for each image; int32 [n], how many each image has.
    Example:
        >>> scores, deltas = pm.layers.data("scores", [-1, 3, 4, 4]), pm.layers.data("deltas", [-1, 12, 4, 4])
        >>> anchors, variances = pm.layers.anchor_generator(scores, [32.0], [0.5, 1.0, 2.0])
        >>> size = pm.layers.data("size", [-1, 2])
        >>> boxes, probs, counts = pm.layers.generate_proposals(scores, deltas, size, anchors, variances)
        >>> boxes.shape, probs.shape
        ((-1, 4), (-1, 1))
    """
    inputs = {"Scores": scores, "BboxDeltas": bbox_deltas, "ImShape": img_size, "Anchors": anchors, "Variances": variances}
    attrs = {
        "pre_nms_topN": pre_nms_top_n,
        "post_nms_topN": post_nms_top_n,
        "nms_thresh": nms_thresh,
        "min_size": min_size,
        "eta": eta,
        "pixel_offset": pixel_offset,
    }
    ports = "RpnRois", "RpnRoiProbs", "RpnRoisNum"
    boxes, probs, counts = emit_ports("generate_proposals_v2", inputs, attrs, name, *ports)
    return boxes, probs, counts


def distribute_fpn_proposals(
    fpn_rois: Variable,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = False,
    rois_num: Variable | None = None,
    name: str | None = None,
) -> tuple[list[Variable], Variable, list[Variable]]:
    """Each box goes to the level of a feature pyramid that suits its size.

    Args:
        fpn_rois: [boxes, 4], left, top, right, bottom; without rois_num, a sequence (lod) for each image.
        min_level: the first level.
        max_level: the last level.
        refer_level: the level of a box of the size refer_scale.
        refer_scale: the side of a square box of refer_level.
        pixel_offset: whether the ends of boxes are pixels inside of them.
        rois_num: int32 or int64 [n], how many of the boxes are of each image.
    Returns:
        The boxes of each level; int32 [boxes, 1], the row of each box among those of all levels together; for each level
        int32 [n], how many boxes of each image it has.
    Example:
        >>> boxes, counts = pm.layers.data("boxes", [-1, 4]), pm.layers.data("counts", [-1], "int32")
        >>> levels, restore, numbers = pm.layers.distribute_fpn_proposals(boxes, 2, 5, 4, 224, rois_num=counts)
        >>> len(levels), restore.shape
        (4, (-1, 1))
    """
    levels = max(whole("distribute_fpn_proposals", "max_level", max_level) - min_level + 1, 1)
    attrs = {
        "min_level": min_level,
        "max_level": max_level,
        "refer_level": refer_level,
        "refer_scale": refer_scale,
        "pixel_offset": pixel_offset,
    }
    outputs = {"MultiFpnRois": levels, "MultiLevelRoIsNum": levels, "RestoreIndex": 1}
    made = emit_all("distribute_fpn_proposals", {"FpnRois": fpn_rois, "RoisNum": rois_num}, attrs, name, outputs)
    boxes, restore, counts = made["MultiFpnRois"], made["RestoreIndex"], made["MultiLevelRoIsNum"]
    assert isinstance(boxes, list) and isinstance(restore, Variable) and isinstance(counts, list)
    return boxes, restore, counts


def collect_fpn_proposals(
    multi_rois: Sequence[Variable],
    multi_scores: Sequence[Variable],
    post_nms_top_n: int,
    rois_num_per_level: Sequence[Variable] | None = None,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """The boxes of the largest scores of all levels of a feature pyramid.

    Args:
        multi_rois: for each level boxes [m, 4]; without rois_num_per_level, a sequence (lod) for each image.
        multi_scores: for each level scores [m, 1].
        post_nms_top_n: how many boxes are taken of all levels and images together.
        rois_num_per_level: for each level int32 or int64 [n], how many of its boxes are of each image.
    Returns:
        Boxes [taken, 4], a sequence for each image; int32 [n], how many each image has.
    Example:
        >>> boxes, scores = pm.layers.data("boxes", [-1, 4], lod_level=1), pm.layers.data("scores", [-1, 1], lod_level=1)
        >>> taken, counts = pm.layers.collect_fpn_proposals([boxes, boxes], [scores, scores], 100)
        >>> taken.shape
        (-1, 4)
    """
    inputs = {
        "MultiLevelRois": list(multi_rois),
        "MultiLevelScores": list(multi_scores),
        "MultiLevelRoIsNum": list(rois_num_per_level or ()),
    }
    attrs = {"post_nms_topN": post_nms_top_n}
    boxes, counts = emit_ports("collect_fpn_proposals", inputs, attrs, name, "FpnRois", "RoisNum")
    return boxes, counts
