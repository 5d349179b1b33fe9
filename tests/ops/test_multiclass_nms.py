"""multiclass_nms, and its versions 2 and 3: the boxes of each class that have large scores and do not overlap."""

import numpy as np

import paddle_mini as pm
from box_overlaps import best_first, overlapping, suppressed
from harness import array, op_tests, run_op


def groups(inputs):
    """First and last row of each image, where the classes have boxes of their own."""
    counts = inputs["RoisNum"] if "RoisNum" in inputs else np.diff(inputs["BBoxes"].lod[0])
    ends = np.cumsum(counts)
    return list(zip(ends - counts, ends))


def choose(boxes, scores, own, attrs):
    """(class, box) of one image: boxes [classes, boxes, 4], scores [classes, boxes]."""
    kept = []
    for label in range(len(scores)):
        if label != attrs["background_label"]:
            order = best_first(scores[label], np.float32(attrs["score_threshold"]), attrs["nms_top_k"])
            rules = np.float32(attrs["nms_threshold"]), np.float32(attrs["nms_eta"]), attrs["normalized"]
            found = suppressed(order, boxes[label], *rules)
            kept += [(label, i) for i in (sorted(found) if own else found)]
    if 0 <= attrs["keep_top_k"] < len(kept):
        best = best_first(np.array([scores[one] for one in kept]), most=attrs["keep_top_k"])
        kept = [kept[k] for k in best]
        kept.sort(key=(lambda one: one) if own else (lambda one: one[0]))
    return kept


def reference(inputs, attrs):
    boxes, scores = getattr(inputs["BBoxes"], "array", inputs["BBoxes"]), inputs["Scores"]
    own = scores.ndim == 2
    rows, index, counts = [], [], []
    for n, (begin, end) in enumerate(groups(inputs) if own else [(0, 0)] * len(scores)):
        of_image = boxes[begin:end].swapaxes(0, 1) if own else np.repeat(boxes[n : n + 1], scores.shape[1], 0)
        with_scores = scores[begin:end].T if own else scores[n]
        kept = choose(of_image, with_scores, own, attrs)
        rows += [[label, with_scores[label, i], *of_image[label, i]] for label, i in kept]
        index += [(begin + i) * len(with_scores) + label if own else n * boxes.shape[1] + i for label, i in kept]
        counts.append(len(kept))
    lod = [np.cumsum([0, *counts]).tolist()]
    return {
        "Out": pm.LoDTensor(np.array(rows).reshape(-1, 6), lod),
        "Index": pm.LoDTensor(np.array(index, "int32").reshape(-1, 1), lod),
        "NmsRoisNum": np.array(counts, "int32"),
    }


def only(*ports):
    return lambda inputs, attrs: {port: value for port, value in reference(inputs, attrs).items() if port in ports}


RULES = {"score_threshold": 0.3, "nms_top_k": -1, "keep_top_k": -1}
SHARED = {"BBoxes": overlapping(2, 9), "Scores": array(2, 3, 9, low=0, high=1)}
OWN = {"BBoxes": pm.LoDTensor(overlapping(9, 3), [[0, 4, 4, 9]]), "Scores": array(9, 3, low=0, high=1)}
COUNTED = {**OWN, "BBoxes": OWN["BBoxes"].array, "RoisNum": np.array([4, 0, 5], "int32")}

CASES = {
    "shared boxes": (SHARED, RULES),
    "no background": (SHARED, {**RULES, "background_label": -1}),
    "four candidates": (SHARED, {**RULES, "nms_top_k": 4, "background_label": 1}),
    "five boxes": (SHARED, {**RULES, "keep_top_k": 5}),
    "pixels": (SHARED, {**RULES, "normalized": False}),
    "a threshold that shrinks": (SHARED, {**RULES, "nms_threshold": 0.7, "nms_eta": 0.8}),
    "equal scores": ({**SHARED, "Scores": np.full((2, 3, 9), 0.5)}, {**RULES, "keep_top_k": 4}),
    "boxes of classes": (OWN, RULES),
    "five boxes of classes": (OWN, {**RULES, "keep_top_k": 3}),
    "boxes that end before they begin": ({**SHARED, "BBoxes": SHARED["BBoxes"][..., [2, 3, 0, 1]]}, RULES),
}
REFUSALS = {
    "other boxes": ({**SHARED, "BBoxes": overlapping(2, 8)}, RULES, pm.ShapeError, "Scores [2, 3, 9] BBoxes [2, 8, 4]"),
    "other images": ({**SHARED, "BBoxes": overlapping(3, 9)}, RULES, pm.ShapeError, "Scores [2, 3, 9] BBoxes [3, 9, 4]"),
    "other classes": ({**OWN, "Scores": array(9, 4)}, RULES, pm.ShapeError, "Scores [9, 4] BBoxes [9, 3, 4]"),
    "polygons": ({**SHARED, "BBoxes": array(2, 9, 8)}, RULES, pm.ShapeError, "BBoxes [2, 9, 8] polygons"),
    "no sequences": ({**OWN, "BBoxes": OWN["BBoxes"].array}, RULES, pm.ShapeError, "BBoxes no sequences"),
    "scores of a vector": ({**SHARED, "Scores": array(9)}, RULES, pm.ShapeError, "Scores 1 2 3"),
    "no threshold": (SHARED, {"nms_top_k": 1, "keep_top_k": 1}, pm.ProgramError, "score_threshold"),
}
counted = lambda *counts: {**COUNTED, "RoisNum": np.array(counts, "int32")}

test_multiclass_nms = op_tests("multiclass_nms", only("Out"), cases=CASES, refusals=REFUSALS, open_shapes=True)
test_multiclass_nms2 = op_tests(
    "multiclass_nms2",
    only("Out", "Index"),
    cases={**CASES, "nothing kept": (SHARED, {**RULES, "score_threshold": 2.0})},
    refusals=REFUSALS,
    open_shapes=True,
)
test_multiclass_nms3 = op_tests(
    "multiclass_nms3",
    reference,
    cases={
        **CASES,
        "nothing kept": (SHARED, {**RULES, "score_threshold": 2.0}),
        "counted": (COUNTED, RULES),
        "counted by int64": ({**COUNTED, "RoisNum": np.array([4, 0, 5])}, RULES),
    },
    refusals={
        **REFUSALS,
        "counts too large": (counted(4, 0, 6), RULES, pm.OpError, "RoisNum 6 image 2 5 rows"),
        "counts too small": (counted(4, 0, 4), RULES, pm.OpError, "RoisNum 8 9 rows"),
        "a negative count": (counted(4, -1, 6), RULES, pm.OpError, "RoisNum -1 image 1"),
    },
    open_shapes=True,
)


def test_nothing_kept_is_one_row_of_minus_one():
    found = run_op("multiclass_nms", SHARED, {**RULES, "score_threshold": 2.0}, ["Out"])["Out"]
    np.testing.assert_array_equal(getattr(found, "array", found), [[-1]])


def test_scores_of_nan_are_left_out():
    scores = np.full((1, 2, 3), np.nan)
    scores[0, 1, 2] = 0.5
    found = run_op("multiclass_nms3", {"BBoxes": overlapping(1, 3), "Scores": scores}, RULES, ["Out", "Index"])
    assert found["Index"].array.tolist() == [[2]]
