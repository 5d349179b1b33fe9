"""anchor_generator: boxes of several sizes and proportions around every cell of a feature map, in pixels."""

import itertools

import numpy as np

import paddle_mini as pm
from harness import array, op_tests


def reference(inputs, attrs):
    rows, columns = inputs["Input"].shape[2:]
    stride, shapes = np.array(attrs["stride"]), []
    for ratio, size in itertools.product(attrs["aspect_ratios"], attrs["anchor_sizes"]):
        width = np.floor((stride.prod() / ratio) ** 0.5 + 0.5)
        shapes.append([size / stride[0] * width, size / stride[1] * np.floor(width * ratio + 0.5)])
    half = (np.array(shapes) - 1) / 2
    out = np.zeros((rows, columns, len(half), 4))
    for y, x in itertools.product(range(rows), range(columns)):
        center = np.array([x, y]) * stride + attrs["offset"] * (stride - 1)
        out[y, x] = np.concatenate([center - half, center + half], 1)
    variances = np.float32(attrs["variances"]).astype("float64")
    return {"Anchors": out, "Variances": np.broadcast_to(variances, out.shape)}


MAP = {"Input": array(2, 3, 3, 4)}
SIZES = {"anchor_sizes": [32.0, 64.0, 128.0], "aspect_ratios": [0.5, 1.0, 2.0], "variances": [0.1, 0.1, 0.2, 0.2]}

test_anchor_generator = op_tests(
    "anchor_generator",
    reference,
    cases={
        "nine": (MAP, SIZES),
        "one": (MAP, {**SIZES, "anchor_sizes": [40.0], "aspect_ratios": [1.5]}),
        "strides": (MAP, {**SIZES, "stride": [8.0, 12.0], "offset": 0.25}),
        "no cells": ({"Input": array(2, 3, 3, 0)}, SIZES),
    },
    refusals={
        "no sizes": (MAP, {**SIZES, "anchor_sizes": []}, pm.ProgramError, "'anchor_sizes' empty"),
        "a size of 0": (MAP, {**SIZES, "anchor_sizes": [0.0]}, pm.ProgramError, "'anchor_sizes' 0 positive"),
        "a negative ratio": (MAP, {**SIZES, "aspect_ratios": [-0.5]}, pm.ProgramError, "'aspect_ratios' -0.5"),
        "one stride": (MAP, {**SIZES, "stride": [16.0]}, pm.ProgramError, "'stride' 1 2"),
        "stride 0": (MAP, {**SIZES, "stride": [16.0, 0.0]}, pm.ProgramError, "'stride' 0"),
        "three variances": (MAP, {**SIZES, "variances": [0.1] * 3}, pm.ProgramError, "'variances' 3 4"),
        "not images": ({"Input": array(2, 3)}, SIZES, pm.ShapeError, "Input 2 4"),
    },
)
