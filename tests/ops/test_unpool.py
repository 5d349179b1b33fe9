"""unpool and unpool3d: zeros with the elements of X at the positions that a maximum pooling found."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x = inputs["X"]
    out = np.zeros((*x.shape[:2], *attrs["output_size"]))
    for n, c in np.ndindex(x.shape[:2]):
        out[n, c].reshape(-1)[inputs["Indices"][n, c].reshape(-1)] = x[n, c].reshape(-1)
    return {"Out": out}


def places(*shape, among, dtype="int32"):
    """Different positions in each plane."""
    random, count = np.random.RandomState(0), int(np.prod(shape[2:]))
    planes = [random.permutation(among)[:count] for _ in range(shape[0] * shape[1])]
    return np.array(planes, dtype).reshape(shape)


def cases(shape, size, attrs):
    x, among = array(*shape), int(np.prod(size))
    attrs = {**attrs, "ksize": [2] * len(size), "output_size": size}
    inputs = {"X": x, "Indices": places(*shape, among=among)}
    none = {"X": x[:0], "Indices": inputs["Indices"][:0]}
    return (
        inputs,
        attrs,
        {
            "int32": (inputs, attrs),
            "int64": ({"X": x, "Indices": places(*shape, among=among, dtype="int64")}, attrs),
            "strides": (inputs, {**attrs, "strides": [2] * len(size), "paddings": [1] * len(size)}),
            "no images": (none, attrs),
        },
    )


def refusals(inputs, attrs):
    with_index = lambda value: {**inputs, "Indices": np.full_like(inputs["Indices"], value)}
    return {
        "a position outside": (with_index(np.prod(attrs["output_size"])), attrs, pm.OpError, "Indices element 0 plane"),
        "a negative position": (with_index(-1), attrs, pm.OpError, "Indices -1 element 0"),
        "positions of another shape": ({**inputs, "Indices": inputs["Indices"][:1]}, attrs, pm.ShapeError, "Indices X"),
        "floats as positions": ({**inputs, "Indices": inputs["X"]}, attrs, pm.ShapeError, "Indices float64"),
        "no size": (inputs, {**attrs, "output_size": [0] * len(attrs["output_size"])}, pm.ProgramError, "'output_size' 0"),
        "one number": (inputs, {**attrs, "output_size": [4]}, pm.ProgramError, "'output_size' 1"),
        "channels last": (inputs, {**attrs, "data_format": "NHWC"}, pm.ProgramError, "'data_format' NHWC"),
        "a matrix": ({"X": array(2, 3), "Indices": np.zeros((2, 3), "int32")}, attrs, pm.ShapeError, "X 2"),
    }


INPUTS, ATTRS, CASES = cases((2, 3, 2, 3), [4, 5], {"unpooling_type": "max"})
test_unpool = op_tests("unpool", reference, cases=CASES, gradients=["X"], refusals=refusals(INPUTS, ATTRS))
VOLUMES, OF_VOLUMES, VOLUME_CASES = cases((2, 2, 2, 1, 3), [2, 3, 4], {})
test_unpool3d = op_tests("unpool3d", reference, cases=VOLUME_CASES, gradients=["X"], refusals=refusals(VOLUMES, OF_VOLUMES))


def test_the_last_of_several_elements_stays():
    inputs = {"X": np.array([[[[1.0, 2.0, 3.0]]]]), "Indices": np.array([[[[1, 0, 1]]]])}
    attrs = {"ksize": [1, 2], "output_size": [1, 2], "unpooling_type": "max"}
    assert run_op("unpool", inputs, attrs)["Out"].reshape(-1).tolist() == [2, 3]


@pytest.mark.parametrize("op_type, undone", [("max_pool2d_with_index", "unpool"), ("max_pool3d_with_index", "unpool3d")])
def test_it_undoes_a_pooling(op_type, undone):
    axes = 2 if undone == "unpool" else 3
    x, attrs = np.zeros((1, 1, *[4] * axes), "float32"), {"ksize": [2] * axes, "strides": [2] * axes}
    x[..., 1::2] = array(1, 1, *[4] * (axes - 1), 2, low=1, high=2)
    x[..., ::2, :] = 0
    if axes == 3:
        x[:, :, ::2] = 0
    found = run_op(op_type, {"X": x}, attrs, ["Out", "Mask"])
    more = {"unpooling_type": "max"} if axes == 2 else {}
    again = run_op(undone, {"X": found["Out"], "Indices": found["Mask"]}, {**attrs, **more, "output_size": [4] * axes})["Out"]
    np.testing.assert_array_equal(again, x)


def test_the_gradient_takes_the_output_as_paddlepaddle_passes_it():
    inputs, attrs, _ = cases((2, 1, 2, 2), [4, 4], {"unpooling_type": "max"})
    gradient, out = array(2, 1, 4, 4), reference(inputs, attrs)["Out"]
    given = {**inputs, "Out@GRAD": gradient}
    found = [run_op("unpool_grad", extra, attrs, ["X@GRAD"])["X@GRAD"] for extra in (given, {**given, "Out": out})]
    np.testing.assert_array_equal(found[0], found[1])
