"""box_coder: boxes as offsets from prior boxes, and back."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def center_size(boxes, border):
    size = boxes[..., 2:] - boxes[..., :2] + border
    return boxes[..., :2] + size / 2, size


def reference(inputs, attrs):
    border = 0 if attrs["box_normalized"] else 1
    target, encodes = inputs["TargetBox"], attrs["code_type"].startswith("encode")
    variance = inputs.get("PriorBoxVar", np.float32(attrs["variance"] or np.ones(4)).astype("float64"))
    by_row = attrs["axis"] == 1 and not encodes
    variance = variance[:, None] if by_row and variance.ndim == 2 else variance
    center, size = (part[:, None] if by_row else part for part in center_size(inputs["PriorBox"], border))
    if encodes:
        middle = (target[:, None, :2] + target[:, None, 2:]) / 2
        scale = center_size(target, border)[1][:, None] / size
        return {"OutputBox": np.concatenate([(middle - center) / size, np.log(np.abs(scale))], -1) / variance}
    moved = variance[..., :2] * target[..., :2] * size + center
    half = np.exp(variance[..., 2:] * target[..., 2:]) * size / 2
    return {"OutputBox": np.concatenate([moved - half, moved + half - border], -1)}


def boxes(count, seed=0):
    corner = array(count, 2, low=0, high=4, seed=seed)
    return np.concatenate([corner, corner + array(count, 2, low=0.5, high=4, seed=seed + 1)], 1)


DECODE = {"code_type": "decode_center_size"}
VARIANCE = {"variance": [0.125, 0.25, 0.5, 0.5]}
PRIORS = {"PriorBox": boxes(3)}
OWN = {**PRIORS, "PriorBoxVar": array(3, 4, low=0.1, high=0.5)}

test_box_coder = op_tests(
    "box_coder",
    reference,
    cases={
        "encode": ({**PRIORS, "TargetBox": boxes(5, 3)}, {}),
        "encode, variance": ({**PRIORS, "TargetBox": boxes(5, 3)}, VARIANCE),
        "encode, variances of priors": ({**OWN, "TargetBox": boxes(5, 3)}, {}),
        "encode pixels": ({**OWN, "TargetBox": boxes(5, 3)}, {"box_normalized": False}),
        "decode": ({**PRIORS, "TargetBox": array(5, 3, 4)}, {**DECODE, **VARIANCE}),
        "decode, variances of priors": ({**OWN, "TargetBox": array(5, 3, 4)}, DECODE),
        "decode by row": ({**OWN, "TargetBox": array(3, 5, 4)}, {**DECODE, "axis": 1}),
        "decode pixels by row": ({**PRIORS, "TargetBox": array(3, 5, 4)}, {**DECODE, "axis": 1, "box_normalized": False}),
        "no boxes": ({**PRIORS, "TargetBox": array(0, 4)}, {}),
    },
    refusals={
        "priors": ({"PriorBox": array(3, 5), "TargetBox": boxes(2)}, {}, pm.ShapeError, "PriorBox [3, 5]"),
        "other priors": ({**PRIORS, "TargetBox": array(5, 2, 4)}, DECODE, pm.ShapeError, "TargetBox [5, 2, 4] PriorBox [3, 4]"),
        "not decodable": ({**PRIORS, "TargetBox": boxes(3)}, DECODE, pm.ShapeError, "TargetBox [3, 4]"),
        "not boxes": ({**PRIORS, "TargetBox": array(3, 5)}, {}, pm.ShapeError, "TargetBox [3, 5]"),
        "variances": ({**PRIORS, "PriorBoxVar": array(2, 4), "TargetBox": boxes(3)}, {}, pm.ShapeError, "PriorBoxVar [2, 4]"),
        "three numbers": ({**PRIORS, "TargetBox": boxes(3)}, {"variance": [1.0] * 3}, pm.ProgramError, "'variance' 3"),
        "code": ({**PRIORS, "TargetBox": boxes(3)}, {"code_type": "other"}, pm.ProgramError, "'code_type'"),
        "axis": ({**PRIORS, "TargetBox": boxes(3)}, {"axis": 2}, pm.ProgramError, "'axis' 2"),
    },
)
