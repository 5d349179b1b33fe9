"""generate_proposals, and its version 2: the best boxes of a region proposal network that do not overlap."""

import numpy as np

import paddle_mini as pm
from box_overlaps import best_first, overlapping, suppressed
from harness import array, op_tests, run_op


def decoded(deltas, anchors, variances, border):
    size = anchors[:, 2:] - anchors[:, :2] + border
    center = variances[:, :2] * deltas[:, :2] * size + anchors[:, :2] + size / 2
    half = np.exp(np.minimum(variances[:, 2:] * deltas[:, 2:], np.log(1000 / 16))) * size / 2
    return np.concatenate([center - half, center + half - border], 1)


def of_image(scores, boxes, size, border, attrs):
    """The boxes of one image with their scores; `size`: its height and width, and in version 1 its scale."""
    order = best_first(scores, most=attrs["pre_nms_topN"] or -1)
    boxes, scores = np.clip(boxes[order], 0, np.tile(size[1::-1] - border, 2)), scores[order]
    extent = boxes[:, 2:] - boxes[:, :2]
    inside = (boxes[:, :2] + (extent + border) / 2 <= size[1::-1]) | (border == 0)
    scaled = extent / size[2] + 1 if len(size) == 3 else extent + border
    kept = (inside & (scaled >= max(attrs["min_size"], 1))).all(1)
    boxes, scores = boxes[kept], scores[kept]
    if not len(boxes):
        return np.zeros((1, 4)), np.zeros((1, 1))
    if attrs["nms_thresh"] > 0:
        rules = np.float32(attrs["nms_thresh"]), np.float32(attrs["eta"]), not border
        chosen = suppressed(range(len(boxes)), boxes, *rules)[: attrs["post_nms_topN"] or None]
        boxes, scores = boxes[chosen], scores[chosen]
    return boxes, scores[:, None]


def reference(inputs, attrs):
    sizes = inputs.get("ImInfo", inputs.get("ImShape"))
    border = 1.0 if attrs.get("pixel_offset", True) else 0.0
    anchors, variances = inputs["Anchors"].reshape(-1, 4), inputs["Variances"].reshape(-1, 4)
    found = []
    for scores, deltas, size in zip(inputs["Scores"], inputs["BboxDeltas"], sizes):
        deltas = deltas.transpose(1, 2, 0).reshape(-1, 4)
        boxes = decoded(deltas, anchors, variances, border)
        found.append(of_image(scores.transpose(1, 2, 0).reshape(-1), boxes, size, border, attrs))
    counts = [len(boxes) for boxes, _ in found]
    lod = [np.cumsum([0, *counts]).tolist()]
    return {
        "RpnRois": pm.LoDTensor(np.concatenate([boxes for boxes, _ in found]), lod),
        "RpnRoiProbs": pm.LoDTensor(np.concatenate([scores for _, scores in found]), lod),
        "RpnRoisNum": np.array(counts, "int32"),
    }


RULES = {"pre_nms_topN": 12, "post_nms_topN": 4, "nms_thresh": 0.5, "min_size": 2.0, "eta": 1.0}
INPUTS = {
    "Scores": array(2, 3, 2, 4, low=0, high=1),
    "BboxDeltas": array(2, 12, 2, 4, low=-1, high=1),
    "Anchors": overlapping(2, 4, 3),
    "Variances": array(2, 4, 3, 4, low=0.1, high=0.9),
}
ONE = {**INPUTS, "ImInfo": np.array([[14.0, 11.0, 1.0], [12.0, 16.0, 1.5]])}
TWO = {**INPUTS, "ImShape": np.array([[14.0, 11.0], [12.0, 16.0]])}


def cases(inputs):
    return {
        "four": (inputs, RULES),
        "all": (inputs, {**RULES, "pre_nms_topN": 0, "post_nms_topN": 0}),
        "large ones": (inputs, {**RULES, "min_size": 5.0}),
        "a threshold that shrinks": (inputs, {**RULES, "nms_thresh": 0.8, "eta": 0.7}),
        "overlaps stay": (inputs, {**RULES, "nms_thresh": 0.0, "pre_nms_topN": 0}),
        "nothing large enough": (inputs, {**RULES, "min_size": 100.0}),
        "growth has a limit": ({**inputs, "BboxDeltas": inputs["BboxDeltas"] * 200}, RULES),
    }


def refusals(inputs, sizes, wanted):
    return {
        "offsets": ({**inputs, "BboxDeltas": array(2, 9, 2, 4)}, RULES, pm.ShapeError, "BboxDeltas [2, 9, 2, 4] Scores"),
        "anchors": ({**inputs, "Anchors": overlapping(2, 4, 2)}, RULES, pm.ShapeError, "Anchors [2, 4, 2, 4] [2, 4, 3, 4]"),
        "variances": ({**inputs, "Variances": array(2, 4, 3, 3)}, RULES, pm.ShapeError, "Variances [2, 4, 3, 3]"),
        "images": ({**inputs, sizes: inputs[sizes][:1]}, RULES, pm.ShapeError, f"{sizes} [1, {wanted}] [2, {wanted}]"),
        "sizes": ({**inputs, sizes: array(2, 5)}, RULES, pm.ShapeError, f"{sizes} [2, 5]"),
        "no rules": (inputs, {}, pm.ProgramError, "missing"),
    }


test_generate_proposals = op_tests(
    "generate_proposals",
    reference,
    cases=cases(ONE),
    refusals=refusals(ONE, "ImInfo", 3),
    open_shapes=True,
    tolerance={"float32": 1e-5},
)
test_generate_proposals_v2 = op_tests(
    "generate_proposals_v2",
    reference,
    cases={**cases(TWO), "no pixels inside": (TWO, {**RULES, "pixel_offset": False})},
    refusals=refusals(TWO, "ImShape", 2),
    open_shapes=True,
    tolerance={"float32": 1e-5},
)


def test_scores_and_offsets_of_nan_do_no_harm():
    nan = {**TWO, "Scores": np.full_like(TWO["Scores"], np.nan)}
    assert run_op("generate_proposals_v2", nan, RULES, ["RpnRois", "RpnRoiProbs"])["RpnRois"].array.shape[1] == 4
    nan = {**TWO, "BboxDeltas": np.full_like(TWO["BboxDeltas"], np.nan)}
    found = run_op("generate_proposals_v2", nan, RULES, ["RpnRois", "RpnRoiProbs"])
    np.testing.assert_array_equal(found["RpnRois"].array, np.zeros((2, 4)))
