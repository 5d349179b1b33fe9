"""Convolutions of bfloat16 and their gradients: sums in float32 of rounded factors, rounded once, wherever they are computed."""

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import bits_of, numbers_of
from paddle_mini.testing.one_op import array, run_op
from split_loops import with_each

# images, channels of a group, filters of a group, groups, height, width, window, strides, paddings, dilations
GEOMETRIES = {
    "3x3 of wide rows": (2, 16, 24, 1, 9, 70, (3, 3), (1, 1), (1, 1), (1, 1)),
    "3x3 of short rows": (3, 17, 33, 1, 7, 7, (3, 3), (1, 1), (1, 1), (1, 1)),
    "many rows in a register": (2, 8, 8, 1, 9, 2, (3, 1), (1, 1), (1, 0), (1, 1)),
    "1x1": (2, 40, 65, 1, 5, 13, (1, 1), (1, 1), (0, 0), (1, 1)),
    "1x1 of every second pixel": (2, 33, 16, 1, 15, 14, (1, 1), (2, 2), (0, 0), (1, 1)),
    "stride 2": (2, 16, 32, 1, 33, 67, (3, 3), (2, 2), (1, 1), (1, 1)),
    "stride 2, even window": (2, 9, 10, 1, 12, 80, (4, 4), (2, 2), (1, 1), (1, 1)),
    "strides differ": (1, 8, 8, 1, 20, 40, (3, 5), (3, 1), (2, 0), (1, 1)),
    "stride 3": (1, 8, 8, 1, 20, 41, (3, 3), (3, 3), (1, 1), (1, 1)),
    "stride larger than the window": (1, 8, 8, 1, 21, 43, (2, 2), (4, 4), (0, 0), (1, 1)),
    "dilated": (2, 8, 12, 1, 14, 40, (3, 3), (1, 1), (2, 2), (2, 2)),
    "dilated, stride 2": (2, 8, 12, 1, 14, 40, (3, 3), (2, 2), (2, 3), (2, 3)),
    "padding differs by side": (2, 8, 8, 1, 10, 35, (3, 3), (1, 1), (0, 2, 3, 1), (1, 1)),
    "7x7 of colours": (2, 3, 16, 1, 30, 30, (7, 7), (2, 2), (3, 3), (1, 1)),
    "groups": (2, 16, 8, 3, 8, 8, (3, 3), (1, 1), (1, 1), (1, 1)),
    "depthwise": (2, 1, 1, 6, 8, 8, (3, 3), (1, 1), (1, 1), (1, 1)),
    "taps in segments": (1, 230, 40, 1, 6, 6, (3, 3), (1, 1), (1, 1), (1, 1)),
    "windows in segments": (5, 8, 16, 1, 20, 20, (3, 3), (1, 1), (1, 1), (1, 1)),
    "many rows and columns": (2, 8, 600, 1, 6, 40, (3, 3), (1, 1), (1, 1), (1, 1)),
    "no images": (0, 8, 8, 1, 6, 6, (3, 3), (1, 1), (1, 1), (1, 1)),
    "windows in the padding alone": (1, 8, 8, 1, 3, 3, (2, 2), (1, 1), (4, 4), (1, 1)),
}


def operands(images, channels, filters, groups, height, width, window, strides, paddings, dilations):
    attrs = {"strides": strides, "paddings": paddings, "dilations": dilations, "groups": groups}
    image, filter = array(images, channels * groups, height, width, seed=1), array(filters * groups, channels, *window, seed=2)
    return image, filter, {name: value if name == "groups" else list(value) for name, value in attrs.items()}


def rounded(x):
    return numbers_of(bits_of(x)).astype("float64")


def check(found, exact, size, count):
    """The bound of one rounding to 8 bits, and of float32 sums of `count` rounded factors; size: the sum of absolute values."""
    bound = 2.0**-8 * np.abs(exact) + (count + 1) * 2.0**-23 * size + 2.0**-126
    assert found.shape == exact.shape
    assert (np.abs(numbers_of(found) - exact) <= bound).all()


def output_of(image, filter, attrs, op_type="conv2d"):
    return run_op(op_type, {"Input": image, "Filter": filter}, attrs, ["Output"])["Output"]


def gradients_of(image, filter, given, attrs, op_type="conv2d"):
    inputs = {"Input": image, "Filter": filter, "Output@GRAD": given}
    found = run_op(f"{op_type}_grad", inputs, attrs, ["Input@GRAD", "Filter@GRAD"])
    return found["Input@GRAD"], found["Filter@GRAD"]


@pytest.mark.parametrize("name", GEOMETRIES)
def test_outputs_are_within_the_bound(name):
    image, filter, attrs = operands(*GEOMETRIES[name])
    exact = output_of(rounded(image), rounded(filter), attrs)
    size = output_of(np.abs(rounded(image)), np.abs(rounded(filter)), attrs)
    check(output_of(bits_of(image), bits_of(filter), attrs), exact, size, filter[0].size)


@pytest.mark.parametrize("name", GEOMETRIES)
def test_gradients_are_within_the_bound(name):
    image, filter, attrs = operands(*GEOMETRIES[name])
    given = array(*output_of(rounded(image), rounded(filter), attrs).shape, seed=3)
    exact = gradients_of(rounded(image), rounded(filter), rounded(given), attrs)
    size = gradients_of(*(np.abs(rounded(x)) for x in (image, filter, given)), attrs)
    found = gradients_of(bits_of(image), bits_of(filter), bits_of(given), attrs)
    for i, count in enumerate((len(filter) * filter[0, 0].size, given[:, 0].size)):
        check(found[i], exact[i], size[i], count)


@pytest.mark.parametrize("stride", [1, 2])
def test_the_transpose_is_within_the_bound(stride):
    image, filter = array(2, 16, 9, 20, seed=1), array(16, 24, 3, 3, seed=2)
    attrs = {"strides": [stride, stride], "paddings": [1, 1]}
    wide, narrow = (rounded(image), rounded(filter)), (bits_of(image), bits_of(filter))
    exact = output_of(*wide, attrs, "conv2d_transpose")
    size = output_of(*map(np.abs, wide), attrs, "conv2d_transpose")
    check(output_of(*narrow, attrs, "conv2d_transpose"), exact, size, 16 * 9)
    given = array(*exact.shape, seed=3)
    exact = gradients_of(*wide, rounded(given), attrs, "conv2d_transpose")
    size = gradients_of(*map(np.abs, wide), np.abs(rounded(given)), attrs, "conv2d_transpose")
    found = gradients_of(*narrow, bits_of(given), attrs, "conv2d_transpose")
    for i, count in enumerate((24 * 9, image[:, 0].size)):
        check(found[i], exact[i], size[i], count)


def test_channels_last():
    image, filter, attrs = operands(*GEOMETRIES["stride 2"])
    first = output_of(bits_of(image), bits_of(filter), attrs)
    last = output_of(bits_of(image).transpose(0, 2, 3, 1).copy(), bits_of(filter), {**attrs, "data_format": "NHWC"})
    np.testing.assert_array_equal(last.transpose(0, 3, 1, 2), first)


@pytest.mark.parametrize("name", ["3x3 of wide rows", "3x3 of short rows", "stride 2", "dilated, stride 2"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_reach_only_their_windows(name, value):
    """Elements beside a window, and what pads tiles, are not multiplied with them."""
    image, filter, attrs = operands(*GEOMETRIES[name])
    image, filter = rounded(image), np.abs(rounded(filter)) + 1
    image[0, 3, 4, 1] = image[-1, -1, -1, -1] = value
    marks = {np.nan: 0x7FC0, np.inf: 0x7F80}
    bits = bits_of(np.where(np.isfinite(image), image, 0))
    bits[~np.isfinite(image)] = marks[value]
    found, exact = numbers_of(output_of(bits, bits_of(filter), attrs)), output_of(image, filter, attrs)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(exact))
    given = np.ones(exact.shape)
    to_image, to_filter = gradients_of(bits, bits_of(filter), bits_of(given), attrs)
    wide_image, wide_filter = gradients_of(image, filter, given, attrs)
    np.testing.assert_array_equal(np.isfinite(numbers_of(to_image)), np.isfinite(wide_image))
    np.testing.assert_array_equal(np.isfinite(numbers_of(to_filter)), np.isfinite(wide_filter))


def trained():
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        x, label = pm.layers.data("x", [4, 3, 20, 20]), pm.layers.data("label", [4, 1], "int64")
        hidden = pm.layers.conv2d(x, 40, 3, padding=1, act="relu")
        hidden = pm.layers.conv2d(hidden, 72, 3, stride=2, padding=1, act="relu")
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(pm.layers.fc(hidden, 10), label))
        pm.amp.decorate(pm.optimizer.SGD(0.1), level="O2").minimize(loss)
    exe = pm.Executor()
    pm.seed(3)
    exe.run(startup, scope=scope)
    for _ in range(2):
        exe.run(main, {"x": array(4, 3, 20, 20).astype("float32"), "label": np.arange(4)[:, None]}, [loss], scope)
    return [scope.get(parameter.name).tobytes() for parameter in main.all_parameters()]


def test_any_number_of_threads_gives_the_same_bits():
    first, *others = with_each((1, 2, 3, 8), trained)
    assert all(other == first for other in others)
