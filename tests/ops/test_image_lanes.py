"""images_to_lanes, images_from_lanes and conv2d_in_lanes: neighbouring images side by side, element by element."""

import numpy as np
import pytest

import paddle_mini as pm
from families.windows import convolution, filtered
from harness import array, op_tests


def to_lanes(x, lanes):
    """[images, channels, height, width] as [images / lanes, channels, height, width lanes]."""
    images, channels, height, width = x.shape
    split = x.reshape(images // lanes, lanes, channels, height, width)
    return np.moveaxis(split, 1, -1).reshape(images // lanes, channels, height, width * lanes)


def from_lanes(x, lanes):
    groups, channels, height, width = x.shape
    split = x.reshape(groups, channels, height, width // lanes, lanes)
    return np.moveaxis(split, -1, 1).reshape(groups * lanes, channels, height, width // lanes)


LANES = {f"{lanes} lanes": {"lanes": lanes} for lanes in (1, 3, 4, 8, 16)}

test_images_to_lanes = op_tests(
    "images_to_lanes",
    lambda inputs, attrs: {"Out": to_lanes(inputs["X"], attrs["lanes"])},
    cases={
        **{name: ({"X": array(2 * attrs["lanes"], 3, 5, 7)}, attrs) for name, attrs in LANES.items()},
        "one element": ({"X": array(16, 1, 1, 1)}, {"lanes": 16}),
        "large images": ({"X": array(32, 2, 40, 33)}, {"lanes": 16}),
        "no images": ({"X": np.zeros((0, 2, 3, 4))}, {"lanes": 16}),
        "no channels": ({"X": np.zeros((16, 0, 3, 4))}, {"lanes": 16}),
    },
    refusals={
        "images that are not divisible": ({"X": array(17, 1, 1, 1)}, {"lanes": 16}, pm.ShapeError, "X [17, 1, 1, 1] 16 lanes"),
        "three axes": ({"X": array(16, 1, 1)}, {"lanes": 16}, pm.ShapeError, "X 4 dimensions"),
        "no lanes": ({"X": array(16, 1, 1, 1)}, {"lanes": 0}, pm.ProgramError, "lanes 0"),
    },
)

test_images_from_lanes = op_tests(
    "images_from_lanes",
    lambda inputs, attrs: {"Out": from_lanes(inputs["X"], attrs["lanes"])},
    cases={
        **{name: ({"X": array(2, 3, 5, 7 * attrs["lanes"])}, attrs) for name, attrs in LANES.items()},
        "one element": ({"X": array(1, 1, 1, 16)}, {"lanes": 16}),
        "large images": ({"X": array(2, 2, 40, 33 * 16)}, {"lanes": 16}),
        "no images": ({"X": np.zeros((0, 2, 3, 16))}, {"lanes": 16}),
    },
    refusals={"columns left over": ({"X": array(1, 1, 1, 17)}, {"lanes": 16}, pm.ShapeError, "X [1, 1, 1, 17] 16 lanes")},
)


def filtered_in_lanes(lanes, *shape, filters):
    inputs = filtered(*shape, filters=filters)
    return {**inputs, "Input": to_lanes(inputs["Input"], lanes)}


def convolution_in_lanes(inputs, attrs):
    lanes = attrs["lanes"]
    images = {**inputs, "Input": from_lanes(inputs["Input"], lanes)}
    return {"Output": to_lanes(convolution(images, {**attrs, "data_format": "NCHW"})["Output"], lanes)}


def geometry(lanes):
    """Cases of conv2d for so many lanes."""

    def case(*shape, filters, **attrs):
        return filtered_in_lanes(lanes, shape[0] * lanes, *shape[1:], filters=filters), {"lanes": lanes, **attrs}

    return {
        "padding": case(1, 2, 5, 7, filters=(5, 2, 3, 3), paddings=[1, 1]),
        "two groups of images": case(2, 3, 4, 13, filters=(4, 3, 3, 3), paddings=[1, 1]),
        "strides": case(1, 2, 7, 6, filters=(3, 2, 3, 2), strides=[2, 3], paddings=[2, 0, 1, 3]),
        "dilations and groups": case(1, 4, 5, 6, filters=(6, 2, 3, 3), groups=2, dilations=[2, 1], paddings=[1, 1]),
        "padding wider than the window": case(1, 1, 3, 3, filters=(2, 1, 2, 2), paddings=[4, 4], strides=[3, 3]),
        "one tap": case(1, 3, 5, 4, filters=(7, 3, 1, 1)),
        "one tap, stride 2": case(1, 3, 5, 9, filters=(7, 3, 1, 1), strides=[2, 2]),
        "five taps": case(1, 2, 9, 12, filters=(3, 2, 5, 5)),
        "one pixel": case(1, 2, 3, 3, filters=(3, 2, 3, 3)),
        "same": case(1, 2, 7, 8, filters=(3, 2, 3, 4), padding_algorithm="SAME", strides=[2, 3]),
    }


PLAIN = filtered_in_lanes(16, 16, 2, 4, 4, filters=(3, 2, 3, 3))

test_conv2d_in_lanes = op_tests(
    "conv2d_in_lanes",
    convolution_in_lanes,
    cases={
        **{f"{name}, {lanes} lanes": case for lanes in (3, 8, 16) for name, case in geometry(lanes).items()},
        "one element": (filtered_in_lanes(16, 16, 1, 1, 1, filters=(1, 1, 1, 1)), {"lanes": 16}),
        "no images": (filtered_in_lanes(16, 0, 2, 4, 4, filters=(3, 2, 3, 3)), {"lanes": 16}),
        "no channels": (filtered_in_lanes(16, 16, 0, 4, 4, filters=(3, 0, 3, 3)), {"lanes": 16}),
        "no filters": (filtered_in_lanes(16, 16, 2, 4, 4, filters=(0, 2, 3, 3)), {"lanes": 16}),
    },
    gradients=["Input", "Filter"],
    refusals={
        "columns that are not divisible": (
            {**PLAIN, "Input": array(1, 2, 4, 65)},
            {},
            pm.ShapeError,
            "Input [1, 2, 4, 65] 16 lanes",
        ),
        "other channels": ({**PLAIN, "Filter": array(3, 3, 3, 3)}, {}, pm.ShapeError, "Filter has 3 input channels, Input has 2"),
        "window too large": ({**PLAIN, "Filter": array(3, 2, 5, 3)}, {}, pm.ShapeError, "spans 5 fit into 4"),
        "other dtype": ({**PLAIN, "Filter": PLAIN["Filter"].astype("float32")}, {}, pm.ShapeError, "float32"),
    },
    tolerance={"float32": 1e-5},
)


@pytest.mark.parametrize("lanes", [8, 16])
def test_the_order_is_its_own_inverse(lanes):
    x = array(2 * lanes, 3, 4, 5)
    assert (from_lanes(to_lanes(x, lanes), lanes) == x).all()
