"""prior_box: boxes of several sizes and proportions around every cell of a feature map."""

import itertools

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def ratios(attrs):
    found = [1.0]
    for ratio in np.float32(attrs["aspect_ratios"]).astype("float64"):
        if not any(abs(ratio - other) < 1e-6 for other in found):
            found += [ratio, 1 / ratio] if attrs["flip"] else [ratio]
    return found


def sizes(attrs):
    """Width and height of the boxes of a cell."""
    least, most = (np.float32(attrs[name]).astype("float64") for name in ("min_sizes", "max_sizes"))
    for i, small in enumerate(least):
        boxes = [(small * ratio**0.5, small / ratio**0.5) for ratio in ratios(attrs)]
        larger = [((small * most[i]) ** 0.5,) * 2] if len(most) else []
        yield from [boxes[0], *larger, *boxes[1:]] if attrs["min_max_aspect_ratios_order"] else [*boxes, *larger]


def reference(inputs, attrs):
    rows, columns = inputs["Input"].shape[2:]
    height, width = inputs["Image"].shape[2:]
    boxes = np.array(list(sizes(attrs)))
    out = np.zeros((rows, columns, len(boxes), 4))
    if not inputs["Input"].size or not inputs["Image"].size:
        return {"Boxes": out, "Variances": out}
    given = attrs["step_w"] and attrs["step_h"]
    step = np.array([attrs["step_w"], attrs["step_h"]] if given else [width / columns, height / rows])
    for y, x in itertools.product(range(rows), range(columns)):
        center = (np.array([x, y]) + attrs["offset"]) * step
        out[y, x] = np.concatenate([center - boxes / 2, center + boxes / 2], 1) / [width, height, width, height]
    variances = np.float32(attrs["variances"]).astype("float64")
    return {"Boxes": np.clip(out, 0, 1) if attrs["clip"] else out, "Variances": np.broadcast_to(variances, out.shape)}


MAPS = {"Input": array(1, 2, 3, 4), "Image": array(1, 3, 24, 40)}
SIZES = {"min_sizes": [4.0, 10.0], "variances": [0.1, 0.1, 0.2, 0.2]}
MORE = {**SIZES, "max_sizes": [9.0, 20.0], "aspect_ratios": [2.0, 1.0, 3.0, 2.0]}

test_prior_box = op_tests(
    "prior_box",
    reference,
    cases={
        "squares": (MAPS, SIZES),
        "larger squares": (MAPS, {**SIZES, "max_sizes": [9.0, 20.0]}),
        "ratios": (MAPS, MORE),
        "not flipped": (MAPS, {**MORE, "flip": False}),
        "not clipped": (MAPS, {**MORE, "clip": False}),
        "larger square second": (MAPS, {**MORE, "min_max_aspect_ratios_order": True}),
        "no larger square second": (MAPS, {**SIZES, "aspect_ratios": [2.0], "min_max_aspect_ratios_order": True}),
        "steps": (MAPS, {**MORE, "step_w": 8.0, "step_h": 6.5, "offset": 0.25}),
        "one step": (MAPS, {**MORE, "step_w": 8.0}),
        "no cells": ({**MAPS, "Input": array(1, 2, 0, 4)}, SIZES),
        "no image": ({**MAPS, "Image": array(1, 3, 0, 40)}, SIZES),
    },
    refusals={
        "no sizes": (MAPS, {}, pm.ProgramError, "min_sizes"),
        "empty sizes": (MAPS, {**SIZES, "min_sizes": []}, pm.ProgramError, "'min_sizes' empty"),
        "a size of 0": (MAPS, {**SIZES, "min_sizes": [4.0, 0.0]}, pm.ProgramError, "'min_sizes' 0 positive"),
        "one larger size": (MAPS, {**SIZES, "max_sizes": [9.0]}, pm.ProgramError, "'max_sizes' 1 'min_sizes' 2"),
        "no larger size": (MAPS, {**SIZES, "max_sizes": [9.0, 10.0]}, pm.ProgramError, "'max_sizes' 10 larger"),
        "a ratio of 0": (MAPS, {**SIZES, "aspect_ratios": [0.0]}, pm.ProgramError, "'aspect_ratios' 0"),
        "three variances": (MAPS, {**SIZES, "variances": [0.1] * 3}, pm.ProgramError, "'variances' 3 4"),
        "a negative variance": (MAPS, {**SIZES, "variances": [0.1, 0.1, -1.0, 0.1]}, pm.ProgramError, "'variances' -1"),
        "not images": ({**MAPS, "Input": array(2, 3)}, SIZES, pm.ShapeError, "Input 2 4"),
    },
)
