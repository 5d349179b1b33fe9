"""collect_fpn_proposals: the boxes of the largest scores of all levels of a feature pyramid."""

import numpy as np

import paddle_mini as pm
from box_overlaps import best_first
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    rois = [getattr(part, "array", part) for part in inputs["MultiLevelRois"]]
    scores = np.concatenate([getattr(part, "array", part).reshape(-1) for part in inputs["MultiLevelScores"]])
    counts = inputs.get("MultiLevelRoIsNum") or [np.diff(part.lod[0]) for part in inputs["MultiLevelRois"]]
    image = np.concatenate([np.repeat(np.arange(len(one)), one) for one in counts])
    order = np.array(best_first(scores, most=attrs["post_nms_topN"]), "int64")
    order = order[np.argsort(image[order], kind="stable")]
    found = np.bincount(image[order], minlength=len(counts[0])).astype("int32")
    return {"FpnRois": pm.LoDTensor(np.concatenate(rois)[order], [np.cumsum([0, *found]).tolist()]), "RoisNum": found}


def levels(*counts, lod=True):
    """Boxes and scores of each level, with the numbers of boxes of each image."""
    boxes = [array(sum(one), 4, seed=i) for i, one in enumerate(counts)]
    scores = [array(sum(one), 1, low=0, high=1, seed=9 + i) for i, one in enumerate(counts)]
    if not lod:
        whole = [np.array(one, "int32") for one in counts]
        return {"MultiLevelRois": boxes, "MultiLevelScores": scores, "MultiLevelRoIsNum": whole}
    offsets = [[np.cumsum([0, *one]).tolist()] for one in counts]
    return {
        "MultiLevelRois": [pm.LoDTensor(part, one) for part, one in zip(boxes, offsets)],
        "MultiLevelScores": [pm.LoDTensor(part, one) for part, one in zip(scores, offsets)],
    }


TWO = levels((3, 4), (5, 2), lod=False)
whole = lambda *counts: [np.array(one, "int32") for one in counts]

test_collect_fpn_proposals = op_tests(
    "collect_fpn_proposals",
    reference,
    cases={
        "sequences": (levels((3, 4), (5, 2)), {"post_nms_topN": 8}),
        "counted": (TWO, {"post_nms_topN": 8}),
        "all": (TWO, {"post_nms_topN": 100}),
        "none": (TWO, {"post_nms_topN": 0}),
        "one level": (levels((2, 3), lod=False), {"post_nms_topN": 4}),
        "a level without boxes": (levels((2, 3), (0, 0), lod=False), {"post_nms_topN": 4}),
    },
    refusals={
        "counts": ({**TWO, "MultiLevelRoIsNum": whole((3, 5), (5, 2))}, {"post_nms_topN": 8}, pm.OpError, "RoIsNum 5 image 1"),
        "a negative count": (
            {**TWO, "MultiLevelRoIsNum": whole((8, -1), (5, 2))},
            {"post_nms_topN": 8},
            pm.OpError,
            "RoIsNum 8 image 0",
        ),
        "other images": (
            {**TWO, "MultiLevelRoIsNum": whole((3, 4), (5, 2, 0))},
            {"post_nms_topN": 8},
            pm.ShapeError,
            "level 1 3 images 2",
        ),
        "scores": (
            {**TWO, "MultiLevelScores": TWO["MultiLevelScores"][::-1][:1] + [array(6, 1)]},
            {"post_nms_topN": 8},
            pm.ShapeError,
            "MultiLevelScores [6, 1] level 1 7 boxes",
        ),
        "levels": ({**TWO, "MultiLevelScores": TWO["MultiLevelScores"][:1]}, {"post_nms_topN": 8}, pm.ProgramError, "1 2"),
        "a negative number": (TWO, {"post_nms_topN": -1}, pm.ProgramError, "'post_nms_topN' -1"),
    },
    open_shapes=True,
)


def test_images_without_boxes_have_none():
    """PaddlePaddle takes boxes of the third image for the second."""
    inputs = levels((2, 0, 3), lod=False)
    inputs["MultiLevelScores"][0][0] = np.nan
    found = run_op("collect_fpn_proposals", inputs, {"post_nms_topN": 4}, ["FpnRois", "RoisNum"])
    assert found["RoisNum"].tolist() == [1, 0, 3]
    assert found["FpnRois"].lod == [[0, 1, 1, 4]]
