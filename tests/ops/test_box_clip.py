"""box_clip: boxes within the image that each sequence of them belongs to."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    boxes, (offsets,) = inputs["Input"].array.copy(), inputs["Input"].lod
    for image, (height, width, scale) in enumerate(inputs["ImInfo"]):
        part = boxes[offsets[image] : offsets[image + 1]]
        part[..., 0::2] = np.maximum(np.minimum(part[..., 0::2], np.floor(width / scale + 0.5) - 1), 0)
        part[..., 1::2] = np.maximum(np.minimum(part[..., 1::2], np.floor(height / scale + 0.5) - 1), 0)
    return {"Output": pm.LoDTensor(boxes, inputs["Input"].lod)}


BOXES = array(5, 4, low=-20, high=60)
IMAGES = np.array([[30.0, 45.0, 1.0], [64.0, 41.0, 1.7], [10.0, 10.0, 1.0]])
INPUTS = {"Input": pm.LoDTensor(BOXES, [[0, 2, 2, 5]]), "ImInfo": IMAGES}

test_box_clip = op_tests(
    "box_clip",
    reference,
    cases={
        "boxes": (INPUTS, {}),
        "boxes of every image": ({**INPUTS, "Input": pm.LoDTensor(BOXES, [[0, 2, 3, 5]])}, {}),
        "boxes of classes": ({**INPUTS, "Input": pm.LoDTensor(array(5, 3, 4, low=-20, high=60), [[0, 2, 2, 5]])}, {}),
        "no boxes": ({**INPUTS, "Input": pm.LoDTensor(BOXES[:0], [[0, 0, 0, 0]])}, {}),
    },
    refusals={
        "no sequences": ({"Input": BOXES, "ImInfo": IMAGES}, {}, pm.ShapeError, "Input no sequences"),
        "other images": ({**INPUTS, "ImInfo": IMAGES[:2]}, {}, pm.ShapeError, "Input 3 images, ImInfo has 2"),
        "two numbers": ({**INPUTS, "ImInfo": IMAGES[:, :2]}, {}, pm.ShapeError, "ImInfo [3, 2]"),
        "five numbers": ({**INPUTS, "Input": pm.LoDTensor(array(5, 5), [[0, 2, 2, 5]])}, {}, pm.ShapeError, "Input [5, 5]"),
        "levels": ({**INPUTS, "Input": pm.LoDTensor(BOXES, [[0, 1, 3], [0, 2, 2, 5]])}, {}, pm.ShapeError, "Input 2 levels"),
    },
)


def test_nan_stays_and_an_image_without_pixels_gives_0():
    boxes = pm.LoDTensor(np.array([[np.nan, 3, 4, np.inf]]), [[0, 1]])
    found = run_op("box_clip", {"Input": boxes, "ImInfo": np.array([[0.0, 9.0, 1.0]])})["Output"]
    np.testing.assert_array_equal(found.array, [[np.nan, 0, 4, 0]])
