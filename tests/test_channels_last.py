"""Images with channels as their last axis: the same numbers as with channels as axis 1."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, run_op

CASES = {
    "conv2d": (
        dict(Input=array(2, 4, 6, 5), Filter=array(6, 2, 3, 3)),
        dict(strides=[2, 1], paddings=[1, 0], groups=2),
        "Output",
    ),
    "depthwise_conv2d": (dict(Input=array(2, 4, 6, 5), Filter=array(4, 1, 3, 2)), dict(groups=4, paddings=[1, 1]), "Output"),
    "conv2d_transpose": (
        dict(Input=array(2, 4, 3, 5), Filter=array(4, 3, 3, 2)),
        dict(strides=[2, 2], paddings=[1, 0]),
        "Output",
    ),
    "pool2d max": (dict(X=array(2, 3, 6, 5)), dict(pooling_type="max", ksize=[2, 3], strides=[2, 1], paddings=[1, 1]), "Out"),
    "pool2d avg": (
        dict(X=array(2, 3, 6, 5)),
        dict(pooling_type="avg", ksize=[3, 2], strides=[1, 2], paddings=[1, 0, 0, 1]),
        "Out",
    ),
    "pool2d global": (dict(X=array(2, 3, 6, 5)), dict(pooling_type="avg", ksize=[1, 1], global_pooling=True), "Out"),
    "pool2d adaptive": (dict(X=array(2, 3, 6, 5)), dict(pooling_type="avg", ksize=[2, 3], adaptive=True), "Out"),
}
IMAGES = ("Input", "X", "Output", "Out")


def last(image):
    return np.ascontiguousarray(np.transpose(image, [0, 2, 3, 1]))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_and_gradients(name, dtype):
    inputs, attrs, out = CASES[name]
    op_type = name.split()[0]
    inputs = {port: value.astype(dtype) for port, value in inputs.items()}
    turned = {port: last(value) if port in IMAGES else value for port, value in inputs.items()}
    first_out = run_op(op_type, inputs, attrs)[out]
    np.testing.assert_array_equal(run_op(op_type, turned, {**attrs, "data_format": "NHWC"})[out], last(first_out))

    gradient = array(*first_out.shape, seed=3).astype(dtype)
    more = {} if out == "Output" else {"Out": first_out}
    found = run_op(op_type + "_grad", {**inputs, **more, out + "@GRAD": gradient}, attrs, [port + "@GRAD" for port in inputs])
    more = {port: last(value) for port, value in more.items()}
    given = {**turned, **more, out + "@GRAD": last(gradient)}
    other = run_op(op_type + "_grad", given, {**attrs, "data_format": "NHWC"}, [port + "@GRAD" for port in inputs])
    for port in inputs:
        expected = found[port + "@GRAD"]
        np.testing.assert_array_equal(other[port + "@GRAD"], last(expected) if port in IMAGES else expected)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(pm.ShapeError, match="3 input channels|Filter has 2"):
        run_op(
            "conv2d",
            {"Input": array(1, 2, 5, 5).astype("float32"), "Filter": array(1, 2, 3, 3).astype("float32")},
            {"data_format": "NHWC"},
        )
    with pytest.raises(pm.ShapeError, match="dimensions"):
        run_op("pool2d", {"X": array(2, 5, 5).astype("float32")}, {"ksize": [2, 2], "pooling_type": "max", "data_format": "NHWC"})
