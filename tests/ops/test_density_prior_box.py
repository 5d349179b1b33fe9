"""density_prior_box: boxes of several sizes and proportions, several of each in every cell of a feature map."""

import itertools

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    rows, columns = inputs["Input"].shape[2:]
    height, width = inputs["Image"].shape[2:]
    given = attrs["step_w"] and attrs["step_h"]
    steps = (attrs["step_w"], attrs["step_h"]) if given else (width / columns, height / rows)
    side, boxes = int(sum(steps) / 2), []
    for y, x in itertools.product(range(rows), range(columns)):
        center = (np.array([x, y]) + attrs["offset"]) * steps
        for size, density in zip(attrs["fixed_sizes"], attrs["densities"]):
            step = side // density
            for ratio, down, right in itertools.product(attrs["fixed_ratios"], range(density), range(density)):
                middle = center - side / 2 + step / 2 + np.array([right, down]) * step
                half = np.array([size * ratio**0.5, size / ratio**0.5]) / 2
                boxes.append(np.concatenate([middle - half, middle + half]) / [width, height, width, height])
    out = np.array(boxes).reshape(-1, 4)
    out[:, :2], out[:, 2:] = np.maximum(out[:, :2], 0), np.minimum(out[:, 2:], 1)
    out = np.clip(out, 0, 1) if attrs["clip"] else out
    out = out if attrs["flatten_to_2d"] else out.reshape(rows, columns, -1, 4)
    return {"Boxes": out, "Variances": np.broadcast_to(np.float32(attrs["variances"]).astype("float64"), out.shape)}


MAPS = {"Input": array(1, 2, 3, 4), "Image": array(1, 3, 24, 41)}
BOXES = {"fixed_sizes": [4.0, 16.0], "fixed_ratios": [1.0, 4.0], "densities": [3, 1]}

test_density_prior_box = op_tests(
    "density_prior_box",
    reference,
    cases={
        "clipped": (MAPS, BOXES),
        "not clipped": (MAPS, {**BOXES, "clip": False, "offset": 1.5}),
        "flat": (MAPS, {**BOXES, "flatten_to_2d": True}),
        "steps": (MAPS, {**BOXES, "step_w": 8.0, "step_h": 6.5, "offset": 0.25, "variances": [0.1] * 4}),
        "one step": (MAPS, {**BOXES, "step_w": 8.0}),
        "no ratios": (MAPS, {**BOXES, "fixed_ratios": []}),
    },
    refusals={
        "one density": (MAPS, {**BOXES, "densities": [2]}, pm.ProgramError, "'densities' 1 'fixed_sizes' 2"),
        "a density of 0": (MAPS, {**BOXES, "densities": [2, 0]}, pm.ProgramError, "'densities' 0"),
        "a size of 0": (MAPS, {**BOXES, "fixed_sizes": [4.0, 0.0]}, pm.ProgramError, "'fixed_sizes' 0 positive"),
        "a ratio below 0": (MAPS, {**BOXES, "fixed_ratios": [-1.0]}, pm.ProgramError, "'fixed_ratios' -1 positive"),
        "three variances": (MAPS, {**BOXES, "variances": [0.1] * 3}, pm.ProgramError, "'variances' 3 4"),
        "no cells": ({**MAPS, "Input": array(1, 2, 0, 4)}, BOXES, pm.ShapeError, "Input [1, 2, 0, 4] cells"),
        "not images": ({**MAPS, "Image": array(2, 3)}, BOXES, pm.ShapeError, "Image 2 4"),
    },
)
