"""conv2d: Output[n, o, y, x] = sum over c, i, j of Filter[o, c, i, j] Input[n, c, y + i, x + j]."""

import numpy as np
import pytest

import paddle_mini as pm
from families.windows import convolution, convolution_cases, convolution_tests, filtered
from harness import array, run_op
from paddle_mini import _core
from split_loops import MANY, with_each

PLAIN = filtered(2, 2, 4, 4, filters=(3, 2, 3, 3))
CASES = {
    **convolution_cases(PLAIN, (3, 3)),
    "plain": (filtered(2, 3, 7, 6, filters=(4, 3, 3, 3)), {}),
    "wide rows": (filtered(1, 2, 5, 40, filters=(3, 2, 3, 4)), {}),
    "many small images": (filtered(40, 2, 4, 4, filters=(3, 2, 3, 3)), {}),
    "eight images": (filtered(8, 2, 5, 7, filters=(5, 2, 3, 3)), {"paddings": [1, 1]}),
    "seven images, strides": (filtered(7, 2, 7, 6, filters=(3, 2, 3, 2)), {"strides": [2, 3], "paddings": [2, 0, 1, 3]}),
    "sixteen images, groups": (
        filtered(16, 4, 5, 6, filters=(6, 2, 3, 3)),
        {"groups": 2, "dilations": [2, 1], "paddings": [1, 1]},
    ),
    "eight images, padding wider than the window": (
        filtered(8, 1, 3, 3, filters=(2, 1, 2, 2)),
        {"paddings": [4, 4], "strides": [3, 3]},
    ),
    "strides": (filtered(2, 3, 9, 8, filters=(4, 3, 3, 2)), {"strides": [2, 3]}),
    "paddings": (filtered(2, 3, 5, 6, filters=(4, 3, 3, 3)), {"paddings": [1, 2]}),
    "four paddings": (filtered(2, 3, 5, 6, filters=(4, 3, 3, 3)), {"paddings": [2, 0, 1, 3]}),
    "padding wider than the window": (filtered(2, 1, 3, 3, filters=(2, 1, 2, 2)), {"paddings": [4, 4], "strides": [3, 3]}),
    "dilations": (filtered(2, 3, 9, 8, filters=(4, 3, 3, 2)), {"dilations": [2, 3], "paddings": [1, 1]}),
    "everything": (
        filtered(3, 4, 11, 9, filters=(6, 2, 3, 3)),
        {"strides": [2, 1], "dilations": [1, 2], "paddings": [1, 0, 2, 1], "groups": 2},
    ),
    "same": (filtered(2, 2, 7, 8, filters=(3, 2, 3, 4)), {"padding_algorithm": "SAME", "strides": [2, 3]}),
    "same drops the dilation": (filtered(2, 2, 7, 8, filters=(3, 2, 3, 3)), {"padding_algorithm": "SAME", "dilations": [2, 2]}),
    "valid": (filtered(2, 2, 7, 8, filters=(3, 2, 3, 3)), {"padding_algorithm": "VALID", "paddings": [5, 5]}),
    "groups": (filtered(2, 4, 6, 6, filters=(6, 2, 3, 3)), {"groups": 2}),
    "depthwise": (filtered(2, 4, 6, 6, filters=(4, 1, 3, 3)), {"groups": 4}),
    "depthwise of odd sizes": (filtered(2, 3, 5, 17, filters=(3, 1, 3, 3)), {"groups": 3, "paddings": [1, 1]}),
    "depthwise of wide rows": (filtered(1, 1, 4, 33, filters=(1, 1, 3, 3)), {"paddings": [1, 1]}),
    "depthwise, stride 2": (filtered(1, 3, 9, 35, filters=(3, 1, 3, 3)), {"groups": 3, "strides": [2, 2], "paddings": [1, 1]}),
    "depthwise, stride 2, without padding": (filtered(1, 2, 7, 9, filters=(2, 1, 3, 3)), {"groups": 2, "strides": [2, 2]}),
    "depthwise, five by five": (filtered(1, 2, 6, 7, filters=(2, 1, 5, 5)), {"groups": 2, "paddings": [2, 2]}),
    "depthwise, five by five, stride 2": (
        filtered(1, 2, 8, 7, filters=(2, 1, 5, 5)),
        {"groups": 2, "paddings": [2, 0, 1, 3], "strides": [2, 2]},
    ),
    "depthwise, images smaller than the window": (filtered(2, 2, 2, 1, filters=(2, 1, 3, 3)), {"groups": 2, "paddings": [1, 1]}),
    "depthwise, padding wider than the image": (filtered(1, 2, 2, 3, filters=(2, 1, 3, 3)), {"groups": 2, "paddings": [5, 7]}),
    "depthwise, two filters of a channel": (filtered(1, 3, 6, 5, filters=(6, 1, 3, 3)), {"groups": 3, "paddings": [1, 1]}),
    "depthwise, dilations": (filtered(1, 3, 7, 8, filters=(3, 1, 3, 3)), {"groups": 3, "dilations": [2, 2], "paddings": [2, 2]}),
    "seventeen filters": (filtered(2, 3, 5, 6, filters=(17, 3, 3, 3)), {"paddings": [1, 1]}),
    "rows of seven pixels": (filtered(1, 2, 7, 7, filters=(33, 2, 3, 3)), {"paddings": [1, 1]}),
    "one tap of small rows": (filtered(1, 5, 3, 7, filters=(33, 5, 1, 1)), {}),
    "one tap, stride 2": (filtered(2, 3, 5, 17, filters=(16, 3, 1, 1)), {"strides": [2, 2]}),
    "one tap": (filtered(2, 3, 20, 20, filters=(4, 3, 1, 1)), {}),
    "one tap of small images": (filtered(20, 3, 2, 2, filters=(4, 3, 1, 1)), {}),
    "one tap with groups": (filtered(1, 4, 20, 20, filters=(2, 2, 1, 1)), {"groups": 2}),
}

test_conv2d = convolution_tests(
    "conv2d",
    CASES,
    PLAIN,
    (3, 3),
    refusals={
        "window too large": (filtered(2, 2, 4, 4, filters=(3, 2, 5, 3)), {}, pm.ShapeError, "spans 5 fit into 4"),
        "window of nothing": (filtered(2, 2, 4, 4, filters=(3, 2, 0, 3)), {}, pm.ShapeError, "Filter [3, 2, 0, 3]"),
        "three axes": ({"Input": array(2, 4, 4), "Filter": array(3, 2, 3, 3)}, {}, pm.ShapeError, "Input 3 dimensions"),
        "three paddings": (PLAIN, {"paddings": [1, 1, 1]}, pm.ProgramError, "paddings 3 numbers"),
        "a layout that is none": (PLAIN, {"data_format": "CHWN"}, pm.ProgramError, "CHWN NCHW"),
        "other dtype": ({**PLAIN, "Filter": PLAIN["Filter"].astype("float32")}, {}, pm.ShapeError, "float32"),
    },
)


@pytest.mark.parametrize("case", CASES)
def test_depthwise_conv2d_is_the_same_operator(case):
    inputs, attrs = CASES[case]
    np.testing.assert_array_equal(run_op("depthwise_conv2d", inputs, attrs)["Output"], run_op("conv2d", inputs, attrs)["Output"])


# Sizes of which each takes another of the kernels: images, channels, size of the image, filters, window, attributes.
KEPT = {
    "rows of fourteen": (2, 20, 14, 40, 3, {"paddings": [1, 1]}),
    "rows of seven": (3, 20, 7, 33, 3, {"paddings": [1, 1]}),
    "rows of three": (1, 17, 3, 16, 3, {"paddings": [1, 1]}),
    "wide rows": (1, 24, 33, 17, 3, {"paddings": [1, 1]}),
    "stride": (2, 20, 17, 48, 3, {"paddings": [1, 1], "strides": [2, 2]}),
    "groups": (2, 34, 9, 66, 3, {"paddings": [1, 1], "groups": 2}),
    "dilation": (1, 24, 15, 31, 3, {"paddings": [2, 2], "dilations": [2, 2]}),
    "one tap": (2, 33, 14, 100, 1, {}),
    "one tap, stride": (2, 33, 13, 20, 1, {"strides": [2, 2]}),
    "one tap of a large image": (2, 5, 41, 27, 1, {}),
    "one tap of more channels than a segment": (3, 600, 7, 13, 1, {}),
    "one tap with more filters than a slice": (3, 500, 3, 300, 1, {}),
    "one tap with groups": (2, 12, 9, 28, 1, {"groups": 2}),
    "one tap of one pixel": (2, 17, 1, 5, 1, {}),
    "one tap of seven rows and many channels": (3, 130, 7, 70, 1, {}),
    "one tap of eight rows and many channels": (2, 96, 8, 17, 1, {}),
    "one tap of two rows and many channels": (5, 101, 2, 33, 1, {}),
    "one tap of one pixel and many channels": (5, 100, 1, 33, 1, {}),
    "one tap of an image in several regions": (2, 2100, 8, 17, 1, {}),
    "one tap with groups of many channels": (3, 200, 5, 70, 1, {"groups": 2}),
    "few taps of a large image": (1, 3, 64, 17, 7, {"paddings": [3, 3], "strides": [2, 2]}),
    "smaller than the window": (2, 33, 2, 20, 5, {"paddings": [2, 2]}),
}


def with_kept_filters(inputs, attrs):
    """A function of images that returns the outputs with filters that are never written, and with those that are fed."""
    dtype = inputs["Filter"].dtype.name
    main, scope, exe = pm.Program(), pm.Scope(), pm.Executor(pm.CPUPlace())
    block = main.global_block()
    outs = []
    for kept in (True, False):
        block.create_var(name=f"x{kept}", shape=[-1, *inputs["Input"].shape[1:]], dtype=dtype)
        block.create_var(name=f"filter{kept}", shape=inputs["Filter"].shape, dtype=dtype, persistable=kept)
        outs.append(block.create_var(name=f"out{kept}", dtype=dtype))
        block.append_op("conv2d", {"Input": [f"x{kept}"], "Filter": [f"filter{kept}"]}, {"Output": [f"out{kept}"]}, attrs)
    scope.set("filterTrue", inputs["Filter"])

    def run(x):
        return exe.run(main, feed={"xTrue": x, "xFalse": x, "filterFalse": inputs["Filter"]}, fetch_list=outs, scope=scope)

    return run


def expected_output(inputs, attrs):
    """In float64."""
    defaults = {"groups": 1, "data_format": "NCHW", "padding_algorithm": "EXPLICIT", "strides": [1, 1], "paddings": [0, 0]}
    wide = {name: value.astype("float64") for name, value in inputs.items()}
    return convolution(wide, {**defaults, "dilations": [1, 1], **attrs})["Output"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", KEPT)
def test_filters_that_are_never_written(case, dtype):
    """The result has the same bits as with filters that are fed, for one image as for several."""
    images, channels, size, filters, window, attrs = KEPT[case]
    inputs = filtered(images, channels, size, size, filters=(filters, channels // attrs.get("groups", 1), window, window))
    inputs = {name: value.astype(dtype) for name, value in inputs.items()}
    run = with_kept_filters(inputs, attrs)
    kept, fed = run(inputs["Input"])
    np.testing.assert_array_equal(kept, fed)
    expected = expected_output(inputs, attrs)
    tolerance = (3e-6 if dtype == "float32" else 1e-13) * max(np.abs(expected).max(), 10)
    np.testing.assert_allclose(kept, expected, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(run(inputs["Input"][:1])[0], kept[:1])


def test_one_tap_of_many_channels_with_infinities_and_threads():
    """A NaN or infinity stays at its pixel; the bits do not depend on the number of threads."""
    inputs = {name: value.astype("float32") for name, value in filtered(3, 130, 7, 7, filters=(70, 130, 1, 1)).items()}
    inputs["Input"][0, 3, 2, 5], inputs["Input"][1, 129, 6, 6], inputs["Input"][2, 0, 0, 0] = np.nan, np.inf, -np.inf
    (kept, fed), *others = with_each(MANY, lambda: with_kept_filters(inputs, {})(inputs["Input"]))
    assert (~np.isfinite(kept)).sum() == 3 * 70
    assert kept.tobytes() == fed.tobytes()
    assert all(kept.tobytes() == other.tobytes() for other, _ in others)


# Images, channels, height, width, filters, window, attributes. Many images fill lanes of registers, in bands and chunks.
GRADIENTS = {
    "small planes": (3, 40, 7, 7, 70, 3, {"paddings": [1, 1]}),
    "Winograd's algorithm": (2, 34, 14, 15, 37, 3, {"paddings": [1, 1]}),
    "Winograd's algorithm, four paddings": (2, 33, 16, 15, 33, 3, {"paddings": [2, 0, 1, 2]}),
    "Winograd's algorithm, many images": (16, 64, 20, 14, 64, 3, {"paddings": [1, 1]}),
    "paddings wider than the window": (2, 33, 6, 5, 34, 3, {"paddings": [3, 3]}),
    "one tap of many channels": (3, 130, 7, 7, 70, 1, {}),
    "one tap of a large image": (2, 9, 37, 31, 40, 1, {}),
    "one tap, strides": (2, 20, 13, 17, 40, 1, {"strides": [2, 3]}),
    "one tap of one pixel": (5, 17, 1, 1, 33, 1, {}),
    "more filters than a part": (1, 5, 9, 8, 530, 5, {}),
    "more channels than a part": (2, 70, 9, 11, 24, 3, {"strides": [2, 2], "paddings": [1, 1]}),
    "groups of several channels": (2, 36, 9, 9, 34, 3, {"groups": 2, "dilations": [2, 2], "paddings": [2, 1]}),
    "depthwise": (3, 5, 20, 37, 5, 3, {"groups": 5, "paddings": [1, 1]}),
    "depthwise, odd sizes and strides": (2, 3, 35, 9, 3, 3, {"groups": 3, "paddings": [1, 1], "strides": [2, 2]}),
    "depthwise, even sizes and strides": (2, 3, 10, 40, 3, 3, {"groups": 3, "paddings": [0, 1, 1, 0], "strides": [2, 2]}),
    "depthwise, five by five": (2, 3, 12, 21, 6, 5, {"groups": 3, "paddings": [2, 1]}),
    "depthwise, five by five, strides": (1, 4, 12, 21, 4, 5, {"groups": 4, "paddings": [2, 2], "strides": [2, 2]}),
    "depthwise, paddings wider than the window": (1, 2, 4, 5, 2, 3, {"groups": 2, "paddings": [4, 4]}),
    "one band": (32, 5, 12, 12, 50, 5, {}),
    "several bands": (64, 16, 32, 32, 18, 3, {"paddings": [1, 1]}),
    "lanes without an image": (45, 7, 21, 19, 5, 3, {"paddings": [0, 2, 1, 0]}),
    "strides": (16, 9, 33, 40, 6, 3, {"paddings": [1, 1], "strides": [2, 3]}),
    "strides longer than the window": (16, 3, 14, 15, 4, 2, {"strides": [3, 4]}),
    "groups and dilations": (48, 6, 30, 26, 10, 3, {"groups": 2, "dilations": [2, 3], "paddings": [3, 2]}),
    "many channels": (16, 130, 7, 7, 33, 3, {"paddings": [1, 1]}),
    "two columns": (32, 6, 6, 5, 7, 4, {}),
    "one column": (16, 2, 9, 5, 6, 5, {}),
    "rows of five taps": (31, 3, 11, 18, 13, 5, {"paddings": [1, 2]}),
    "rows of two taps": (16, 5, 9, 13, 11, 2, {}),
    "windows wider than the outputs": (16, 3, 12, 14, 5, 11, {}),
}


def gradients_of(images, filters, out_gradient, attrs):
    """The output, and the gradients of images and filters."""
    main, scope = pm.Program(), pm.Scope()
    block = main.global_block()
    values = {"x": images, "w": filters, "out@GRAD": out_gradient}
    for name, value in values.items():
        block.create_var(name=name, shape=value.shape, dtype=value.dtype.name)
    outs = [block.create_var(name=name, dtype=images.dtype.name) for name in ("out", "x@GRAD", "w@GRAD")]
    block.append_op("conv2d", {"Input": ["x"], "Filter": ["w"]}, {"Output": ["out"]}, attrs)
    inputs = {"Input": ["x"], "Filter": ["w"], "Output@GRAD": ["out@GRAD"]}
    block.append_op("conv2d_grad", inputs, {"Input@GRAD": ["x@GRAD"], "Filter@GRAD": ["w@GRAD"]}, attrs)
    return pm.Executor(pm.CPUPlace()).run(main, feed=values, fetch_list=outs, scope=scope)


@pytest.mark.parametrize("case", GRADIENTS)
def test_gradients_of_many_sizes(case):
    """A convolution is linear in its images and in its filters: its products with the gradient of the output are those of the
    gradients with random images and filters. The bits do not depend on the number of threads."""
    images, channels, height, width, count, window, attrs = GRADIENTS[case]
    wide = filtered(images, channels, height, width, filters=(count, channels // attrs.get("groups", 1), window, window))
    expected = expected_output(wide, attrs)
    out_gradient = array(*expected.shape, seed=7)
    inputs = [value.astype("float32") for value in (wide["Input"], wide["Filter"], out_gradient)]
    (out, of_images, of_filters), *others = with_each(MANY, lambda: gradients_of(*inputs, attrs))
    np.testing.assert_allclose(out, expected, rtol=0, atol=2e-6 * np.abs(expected).max())
    for seed in range(3):
        x, w = array(*wide["Input"].shape, seed=10 + seed), array(*wide["Filter"].shape, seed=20 + seed)
        for gradient, probe, products in (
            (of_images, x, expected_output({**wide, "Input": x}, attrs)),
            (of_filters, w, expected_output({**wide, "Filter": w}, attrs)),
        ):
            scale = np.linalg.norm(gradient) * np.linalg.norm(probe)
            assert abs((gradient * probe).sum(dtype="float64") - (products * out_gradient).sum()) <= 1e-6 * scale
    for other in others:
        assert [value.tobytes() for value in other] == [value.tobytes() for value in (out, of_images, of_filters)]


@pytest.mark.parametrize("channels, filters", [(0, 17), (33, 0)])
def test_sums_of_no_channels_are_zeros(channels, filters):
    shapes = [(2, channels, 5, 5), (filters, channels, 1, 1), (2, filters, 5, 5)]
    for dtype in ("float32", "float64"):
        assert not any(value.any() for value in gradients_of(*[np.ones(shape, dtype) for shape in shapes], {}))


@pytest.mark.parametrize("channels, groups", [(3, 3), (20, 1)])
def test_an_infinity_reaches_only_the_taps_that_read_it(channels, groups):
    """The first pixel of a row: the last column of the window never reads it."""
    shapes = [(2, channels, 6, 5), (channels, channels // groups, 3, 3), (2, channels, 6, 5)]
    images, filters, out_gradient = [array(*shape, seed=seed).astype("float32") for seed, shape in enumerate(shapes)]
    images[1, 2, 3, 0] = np.inf
    attrs = {"paddings": [1, 1], "groups": groups}
    of_filters = gradients_of(images, filters, out_gradient, attrs)[2]
    reading = of_filters[2, 0] if groups > 1 else of_filters[0, 2]
    assert np.isfinite(reading).tolist() == [[False, False, True]] * 3
    assert np.isfinite(of_filters).sum() == of_filters.size - (6 if groups > 1 else 6 * channels)


# Images, channels, height, width, filters, attributes of 3x3 windows with stride 1 that take Winograd's algorithm.
NARROW = ["v2", "baseline"]
"""Levels with registers of four float32."""
WINOGRAD = {
    "even": (1, 32, 14, 14, 32, {"paddings": [1, 1]}),
    "odd": (3, 33, 7, 7, 65, {"paddings": [1, 1]}),
    "without padding": (2, 40, 9, 12, 48, {}),
    "four paddings": (2, 32, 6, 5, 47, {"paddings": [2, 0, 1, 3]}),
    "wide rows": (1, 32, 5, 131, 33, {"paddings": [1, 1]}),
    "many regions": (2, 64, 40, 37, 32, {"paddings": [1, 1]}),
    "groups": (2, 64, 8, 8, 70, {"paddings": [1, 1], "groups": 2}),
    "one pixel": (5, 32, 1, 1, 32, {"paddings": [1, 1]}),
    "filters transformed in the run, in parts": (1, 520, 5, 5, 260, {"paddings": [1, 1]}),
    "filters transformed before the run, and in it for one image": (4, 520, 5, 5, 260, {"paddings": [1, 1]}),
    "rows of two blocks": (1, 40, 3, 35, 49, {"paddings": [1, 1]}),
}


def summed_directly(inputs, attrs):
    """The outputs with a column of zeros in every filter, whose windows are not those of Winograd's algorithm."""
    paddings = attrs.get("paddings", [0, 0])
    above, below, left, right = paddings if len(paddings) == 4 else np.repeat(paddings, 2).tolist()
    wider = {**inputs, "Filter": np.pad(inputs["Filter"], [(0, 0), (0, 0), (0, 0), (0, 1)])}
    return run_op("conv2d", wider, {**attrs, "paddings": [above, below, left, right + 1]})["Output"]


@pytest.mark.parametrize("case", WINOGRAD)
def test_winograd(case):
    """The error is that of sums in float32; the bits depend on neither the number of threads nor that of images."""
    images, channels, height, width, filters, attrs = WINOGRAD[case]
    inputs = filtered(images, channels, height, width, filters=(filters, channels // attrs.get("groups", 1), 3, 3))
    inputs = {name: value.astype("float32") for name, value in inputs.items()}
    expected = expected_output(inputs, attrs)

    def both():
        return with_kept_filters(inputs, attrs)(inputs["Input"])

    (kept, fed), *others = with_each(MANY, both)
    # Narrow levels sum up to 4680 products directly, and round each.
    narrow = _core.kernel_library()["level"] in NARROW
    assert np.abs(kept - expected).max() <= (5e-6 if narrow else 2e-6) * np.abs(expected).max()
    assert narrow or (kept != summed_directly(inputs, attrs)).any()
    assert all((kept.tobytes(), fed.tobytes()) == (other.tobytes(), third.tobytes()) for other, third in others)
    np.testing.assert_array_equal(with_kept_filters(inputs, attrs)(inputs["Input"][-1:])[0], kept[-1:])
