"""affine_grid: the places of an image's pixels under an affine map."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    theta = inputs["Theta"]
    sizes = attrs["output_shape"][2:]
    places = []
    for size in sizes:
        at = np.arange(size)
        corners = np.zeros(size) if size < 2 else 2 * at / (size - 1) - 1
        places.append(corners if attrs["align_corners"] else (2 * at + 1) / size - 1)
    grid = np.stack([*np.meshgrid(*places, indexing="ij")][::-1] + [np.ones([len(at) for at in places])], -1)
    return {"Output": np.einsum("nak,...k->n...a", theta, grid)}


IMAGES = {"Theta": array(2, 2, 3, low=-1, high=1)}
VOLUMES = {"Theta": array(2, 3, 4, low=-1, high=1)}
SHAPE, VOLUME_SHAPE = {"output_shape": [2, 3, 4, 5]}, {"output_shape": [2, 1, 3, 4, 5]}

test_affine_grid = op_tests(
    "affine_grid",
    reference,
    cases={
        "corners": (IMAGES, SHAPE),
        "edges": (IMAGES, {**SHAPE, "align_corners": False}),
        "volumes": (VOLUMES, VOLUME_SHAPE),
        "volumes, edges": (VOLUMES, {**VOLUME_SHAPE, "align_corners": False}),
        "one row": (IMAGES, {"output_shape": [2, 3, 1, 5]}),
        "one pixel, edges": (IMAGES, {"output_shape": [2, 3, 1, 1], "align_corners": False}),
        "no images": ({"Theta": array(0, 2, 3)}, {"output_shape": [0, 3, 4, 5]}),
        "no rows": (IMAGES, {"output_shape": [2, 3, 0, 5]}),
    },
    gradients=["Theta"],
    refusals={
        "no shape": (IMAGES, {}, pm.ShapeError, "'output_shape' 0 4 5"),
        "maps of volumes": (VOLUMES, SHAPE, pm.ShapeError, "Theta [2, 3, 4] [images, 2, 3]"),
        "other images": (IMAGES, {"output_shape": [3, 3, 4, 5]}, pm.ShapeError, "Theta [2, 2, 3] 3 images"),
        "a matrix": ({"Theta": array(2, 3)}, SHAPE, pm.ShapeError, "Theta 2 3"),
    },
)


def test_the_gradient_takes_theta_as_paddlepaddle_passes_it():
    given = {"Output@GRAD": array(2, 4, 5, 2)}
    found = [run_op("affine_grid_grad", extra, SHAPE, ["Theta@GRAD"])["Theta@GRAD"] for extra in (given, {**given, **IMAGES})]
    np.testing.assert_array_equal(found[0], found[1])
