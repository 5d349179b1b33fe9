# Layers that choose among boxes: the best match, and the ones that stay of those that overlap.
from __future__ import annotations

from ..variable import Variable
from .emit import emit_ports


def bipartite_match(
    dist_matrix: Variable, match_type: str = "bipartite", dist_threshold: float = 0.5, name: str | None = None
) -> tuple[Variable, Variable]:
    """Pairs of rows and columns, the largest element of a matrix first.

    Args:
        dist_matrix: [n, m], the larger, the better; with sequences (lod), a matrix for each.
        match_type: "bipartite": pairs only; "per_prediction": a column without a row then takes its largest element.
        dist_threshold: the least such element.
    Returns:
        int32 [sequences, m], the row of each column in its sequence, or -1; [sequences, m], the elements there, or 0.
    Example:
        >>> overlaps = pm.layers.data("overlaps", [3, 5])
        >>> rows, largest = pm.layers.bipartite_match(overlaps)
        >>> rows.shape, largest.shape
        ((1, 5), (1, 5))
    """
    attrs = {"match_type": match_type, "dist_threshold": dist_threshold}
    ports = "ColToRowMatchIndices", "ColToRowMatchDist"
    rows, distances = emit_ports("bipartite_match", {"DistMat": dist_matrix}, attrs, name, *ports)
    return rows, distances


def multiclass_nms(
    bboxes: Variable,
    scores: Variable,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = 0,
    rois_num: Variable | None = None,
    name: str | None = None,
) -> tuple[Variable, Variable, Variable]:
    """The boxes of each class that have the largest scores and do not overlap.

    Args:
        bboxes: [n, boxes, 4], left, top, right, bottom; or [boxes, classes, 4] in sequences (lod) or with rois_num.
        scores: [n, classes, boxes]; or [boxes, classes].
        score_threshold: boxes of a score up to this are left out.
        nms_top_k: candidates of a class; -1: all.
        keep_top_k: boxes of an image; -1: all.
        nms_threshold: the largest overlap with a kept box, intersection over union.
        normalized: False: the ends of boxes are pixels inside of them.
        nms_eta: below 1: the threshold is multiplied by it for each kept box, while above 0.5.
        background_label: the class that is left out; -1: none.
        rois_num: int32 or int64 [n], how many of the boxes are of each image.
    Returns:
        Rows [kept, 6] of class, score, box; int32 [kept, 1], the rows of bboxes; int32 [n], how many each image has.
    Example:
        >>> boxes, scores = pm.layers.data("boxes", [-1, 50, 4]), pm.layers.data("scores", [-1, 3, 50])
        >>> rows, index, counts = pm.layers.multiclass_nms(boxes, scores, 0.1, 20, 10)
        >>> rows.shape
        (-1, 6)
    """
    attrs = {
        "score_threshold": score_threshold,
        "nms_top_k": nms_top_k,
        "keep_top_k": keep_top_k,
        "nms_threshold": nms_threshold,
        "normalized": normalized,
        "nms_eta": nms_eta,
        "background_label": background_label,
    }
    inputs = {"BBoxes": bboxes, "Scores": scores, "RoisNum": rois_num}
    rows, index, counts = emit_ports("multiclass_nms3", inputs, attrs, name, "Out", "Index", "NmsRoisNum")
    return rows, index, counts


def matrix_nms(
    bboxes: Variable,
    scores: Variable,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    name: str | None = None,
) -> tuple[Variable, Variable, Variable]:
    """Boxes whose scores are large after a decay by their overlaps with better ones (SOLOv2).

    Args:
        bboxes: [n, boxes, 4], left, top, right, bottom.
        scores: [n, classes, boxes].
        score_threshold: boxes of a score up to this are left out.
        post_threshold: boxes of a decayed score up to this are left out.
        nms_top_k: candidates of a class; -1: all.
        keep_top_k: boxes of an image; -1: all.
        use_gaussian: whether the decay is Gaussian, not linear.
        gaussian_sigma: of the Gaussian decay.
        background_label: the class that is left out; -1: none.
        normalized: False: the ends of boxes are pixels inside of them.
    Returns:
        Rows [kept, 6] of class, decayed score, box; int32 [kept, 1], the rows of bboxes; int32 [n], how many each image has.
    Example:
        >>> boxes, scores = pm.layers.data("boxes", [-1, 50, 4]), pm.layers.data("scores", [-1, 3, 50])
        >>> rows, index, counts = pm.layers.matrix_nms(boxes, scores, 0.1, 0.05, 20, 10)
        >>> rows.shape
        (-1, 6)
    """
    attrs = {
        "score_threshold": score_threshold,
        "post_threshold": post_threshold,
        "nms_top_k": nms_top_k,
        "keep_top_k": keep_top_k,
        "use_gaussian": use_gaussian,
        "gaussian_sigma": gaussian_sigma,
        "background_label": background_label,
        "normalized": normalized,
    }
    ports = "Out", "Index", "RoisNum"
    rows, index, counts = emit_ports("matrix_nms", {"BBoxes": bboxes, "Scores": scores}, attrs, name, *ports)
    return rows, index, counts
