"""distribute_fpn_proposals: each box goes to the level of a feature pyramid that suits its size."""

import numpy as np

import paddle_mini as pm
from box_overlaps import area
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    boxes = getattr(inputs["FpnRois"], "array", inputs["FpnRois"])
    counts = inputs["RoisNum"] if "RoisNum" in inputs else np.diff(inputs["FpnRois"].lod[0])
    image = np.repeat(np.arange(len(counts)), counts)
    sizes = np.sqrt([area(box, not attrs["pixel_offset"]) for box in boxes]) / attrs["refer_scale"]
    levels = np.clip(np.floor(np.log2(sizes + 1e-6) + attrs["refer_level"]), attrs["min_level"], attrs["max_level"])
    order = np.argsort(levels, kind="stable")
    restore = np.argsort(order, kind="stable").astype("int32").reshape(-1, 1)
    rois, found = [], []
    for level in range(attrs["min_level"], attrs["max_level"] + 1):
        found.append(np.bincount(image[levels == level], minlength=len(counts)).astype("int32"))
        rois.append(pm.LoDTensor(boxes[levels == level], [np.cumsum([0, *found[-1]]).tolist()]))
    return {"MultiFpnRois": rois, "MultiLevelRoIsNum": found, "RestoreIndex": restore}


LEVELS = {"min_level": 2, "max_level": 5, "refer_level": 4, "refer_scale": 224}
ONE = {**LEVELS, "min_level": 3, "max_level": 3}
CORNERS = array(8, 2, low=0, high=300)
SIZES = np.array([[20, 30], [60, 50], [113, 100], [220, 240], [225, 260], [460, 500], [1000, 900], [-5, 40]])
BOXES = np.concatenate([CORNERS, CORNERS + SIZES], 1)
COUNTED = {"FpnRois": BOXES, "RoisNum": np.array([3, 0, 5], "int32")}
SEQUENCES = {"FpnRois": pm.LoDTensor(BOXES, [[0, 3, 8]])}

test_distribute_fpn_proposals = op_tests(
    "distribute_fpn_proposals",
    reference,
    cases={
        "sequences": (SEQUENCES, LEVELS),
        "counted": ({**COUNTED, "RoisNum": np.array([3, 5], "int32")}, LEVELS),
        "an image without boxes": (COUNTED, LEVELS),
        "counted by int64": ({**COUNTED, "RoisNum": np.array([3, 0, 5])}, LEVELS),
        "no pixels inside": (SEQUENCES, {**LEVELS, "pixel_offset": False}),
        "one level": (SEQUENCES, ONE),
    },
    refusals={
        "counts": ({**COUNTED, "RoisNum": np.array([3, 0, 6])}, ONE, pm.OpError, "RoisNum 6 image 2 5 rows"),
        "a negative count": ({**COUNTED, "RoisNum": np.array([9, -1])}, ONE, pm.OpError, "RoisNum 9"),
        "neither": ({"FpnRois": BOXES}, LEVELS, pm.ShapeError, "FpnRois no sequences"),
        "five numbers": ({**COUNTED, "FpnRois": array(8, 5)}, LEVELS, pm.ShapeError, "FpnRois [8, 5]"),
        "no levels": (SEQUENCES, {**LEVELS, "max_level": 1}, pm.ProgramError, "'max_level' 1 2"),
        "no scale": (SEQUENCES, {**LEVELS, "refer_scale": 0}, pm.ProgramError, "'refer_scale' 0 positive"),
        "one output": (SEQUENCES, LEVELS, pm.ProgramError, "MultiFpnRois 1 4 levels"),
    },
    open_shapes=True,
)


def test_boxes_of_nan_and_infinity_have_a_level():
    boxes = np.array([[0, 0, np.nan, 9], [0, 0, np.inf, 9], [0, 0, 224, 224]], "float32")
    inputs = {"FpnRois": boxes, "RoisNum": np.array([3], "int32")}
    found = run_op("distribute_fpn_proposals", inputs, LEVELS, {"MultiFpnRois": 4, "RestoreIndex": 1})
    assert [len(part.array) for part in found["MultiFpnRois"]] == [1, 0, 1, 1]
    assert found["RestoreIndex"].reshape(-1).tolist() == [0, 2, 1]
