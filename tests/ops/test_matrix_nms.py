"""matrix_nms: boxes whose scores are large after a decay by their overlaps with better ones."""

import numpy as np

import paddle_mini as pm
from box_overlaps import best_first, overlap, overlapping
from harness import array, op_tests, run_op


def decayed(boxes, scores, attrs):
    """(box, decayed score) of one class."""
    order = best_first(scores, np.float32(attrs["score_threshold"]), attrs["nms_top_k"])
    overlaps = np.array([[overlap(boxes[a], boxes[b], attrs["normalized"]) for b in order] for a in order])
    largest = [max([0.0, *overlaps[i, :i]]) for i in range(len(order))]
    if attrs["use_gaussian"]:
        decay = lambda o, most: np.exp((most**2 - o**2) * attrs["gaussian_sigma"])
    else:
        decay = lambda o, most: (1 - o) / (1 - most)
    for i, box in enumerate(order):
        score = scores[box] * min([1.0, *(decay(overlaps[i, j], largest[j]) for j in range(i))])
        if score > np.float32(attrs["post_threshold"]):
            yield box, score


def reference(inputs, attrs):
    boxes, scores = inputs["BBoxes"], inputs["Scores"]
    rows, index, counts = [], [], []
    for n in range(len(scores)):
        labels = [label for label in range(scores.shape[1]) if label != attrs["background_label"]]
        kept = [(label, *one) for label in labels for one in decayed(boxes[n], scores[n, label], attrs)]
        best = best_first(np.array([score for _, _, score in kept]), most=attrs["keep_top_k"])
        rows += [[kept[k][0], kept[k][2], *boxes[n, kept[k][1]]] for k in best]
        index += [n * boxes.shape[1] + kept[k][1] for k in best]
        counts.append(len(best))
    lod = [np.cumsum([0, *counts]).tolist()]
    return {
        "Out": pm.LoDTensor(np.array(rows).reshape(-1, 6), lod),
        "Index": pm.LoDTensor(np.array(index, "int32").reshape(-1, 1), lod),
        "RoisNum": np.array(counts, "int32"),
    }


RULES = {"score_threshold": 0.2, "nms_top_k": -1, "keep_top_k": -1}
BOXES = {"BBoxes": overlapping(2, 9), "Scores": array(2, 3, 9, low=0, high=1)}

test_matrix_nms = op_tests(
    "matrix_nms",
    reference,
    cases={
        "linear": (BOXES, RULES),
        "Gaussian": (BOXES, {**RULES, "use_gaussian": True, "gaussian_sigma": 1.5}),
        "four candidates": (BOXES, {**RULES, "nms_top_k": 4, "background_label": -1}),
        "five boxes": (BOXES, {**RULES, "keep_top_k": 5}),
        "after": (BOXES, {**RULES, "post_threshold": 0.3}),
        "pixels": (BOXES, {**RULES, "normalized": False}),
        "nothing kept": (BOXES, {**RULES, "score_threshold": 2.0}),
    },
    refusals={
        "other boxes": ({**BOXES, "BBoxes": overlapping(2, 8)}, RULES, pm.ShapeError, "Scores [2, 3, 9] BBoxes [2, 8, 4]"),
        "polygons": ({**BOXES, "BBoxes": array(2, 9, 8)}, RULES, pm.ShapeError, "BBoxes [2, 9, 8]"),
        "matrix": ({**BOXES, "Scores": array(2, 9)}, RULES, pm.ShapeError, "Scores 2 3"),
        "no threshold": (BOXES, {"nms_top_k": 1, "keep_top_k": 1}, pm.ProgramError, "score_threshold"),
    },
    tolerance={"float32": 1e-5},
    open_shapes=True,
)


def test_scores_of_nan_are_left_out_and_equal_boxes_decay_to_nothing():
    boxes = np.repeat(overlapping(1, 1), 4, axis=1)
    scores = np.array([[[0.9, 0.8, np.nan, 0.7]]])
    found = run_op("matrix_nms", {"BBoxes": boxes, "Scores": scores}, {**RULES, "background_label": -1}, ["Out", "Index"])
    assert found["Index"].array.tolist() == [[0]]
