# Convolution, its transpose and pooling, one case each; all geometry is in the operators' tests.
import numpy as np
import pytest

import paddle_mini as pm
from programs import run, start

IMAGE = np.random.default_rng(0).normal(size=(2, 4, 7, 6)).astype("float32")


@pytest.mark.parametrize(
    "options, shape",
    [
        ({}, (-1, 6, 5, 4)),
        ({"padding": 1}, (-1, 6, 7, 6)),
        ({"padding": "same"}, (-1, 6, 7, 6)),
        ({"padding": np.array([1, 1]), "stride": np.int32(1)}, (-1, 6, 7, 6)),
        ({"padding": [0, 1, 2, 0], "stride": [2, 1]}, (-1, 6, 3, 6)),
        ({"dilation": 2, "groups": 2}, (-1, 6, 3, 2)),
    ],
)
def test_conv2d_shapes(options, shape):
    out = pm.layers.conv2d(pm.layers.data("x", [-1, 4, 7, 6]), 6, 3, **options)
    assert out.shape == shape
    weight, bias = pm.default_main_program().all_parameters()
    assert (weight.name, weight.shape) == ("conv2d_0.w_0", (6, 4 // options.get("groups", 1), 3, 3))
    assert (bias.name, bias.shape) == ("conv2d_0.b_0", (6,))
    assert run(out, x=IMAGE)[0].shape == (2, *shape[1:])


@pytest.mark.parametrize(
    "layer, shape",
    [
        ("conv2d", [-1, 4, 7, 6]),
        ("conv2d_transpose", [-1, 4, 7, 6]),
        ("conv3d", [-1, 4, 5, 7, 6]),
        ("conv3d_transpose", [-1, 4, 5, 7, 6]),
    ],
)
def test_same_padding_warns_that_it_ignores_dilation(layer, shape):
    x = pm.layers.data("x", shape)
    with pytest.warns(UserWarning, match="'SAME' sets dilation 2 to 1, as in PaddlePaddle; to keep") as found:
        out = getattr(pm.layers, layer)(x, 6, filter_size=3, padding="same", dilation=2)
    assert found[0].filename == __file__ and out.shape[2:] == x.shape[2:]
    assert getattr(pm.layers, layer)(x, 6, filter_size=3, padding=2 * (3 - 1) // 2, dilation=2).shape == out.shape


def test_conv2d_is_a_correlation_with_bias_and_activation():
    x = pm.layers.data("x", [-1, 4, 7, 6])
    out = pm.layers.conv2d(x, 6, [3, 2], act="relu", bias_attr=pm.initializer.Uniform())
    (value,) = run(out, x=IMAGE)
    weight, bias = (pm.global_scope().get(f"conv2d_0.{name}") for name in ["w_0", "b_0"])
    windows = np.lib.stride_tricks.sliding_window_view(IMAGE, (3, 2), axis=(2, 3))
    expected = np.einsum("nchwij,fcij->nfhw", windows, weight) + bias[:, None, None]
    np.testing.assert_allclose(value, np.maximum(expected, 0), rtol=1e-4, atol=1e-5)


def test_conv2d_begins_with_he_of_all_channels_even_in_groups():
    pm.layers.conv2d(pm.layers.data("x", [-1, 64, 7, 6]), 128, 3, groups=2)
    start()
    spread = pm.global_scope().get("conv2d_0.w_0").std()
    assert spread == pytest.approx(np.sqrt(2 / (3 * 3 * 64)), rel=0.02)


def test_pool2d():
    x = pm.layers.data("x", [-1, 4, 7, 6])
    outs = [
        pm.layers.pool2d(x, 2, "max", 2),
        pm.layers.pool2d(x, 2, "avg", 2, ceil_mode=True),
        pm.layers.pool2d(x, pool_type="avg", global_pooling=True),
    ]
    values = run(*outs, x=IMAGE)
    assert [value.shape[2:] for value in values] == [(3, 3), (4, 3), (1, 1)]
    np.testing.assert_allclose(values[0][:, :, 0, 0], IMAGE[:, :, :2, :2].max((2, 3)))
    np.testing.assert_allclose(values[2][:, :, 0, 0], IMAGE.mean((2, 3)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "mistake, words",
    [
        (lambda x: pm.layers.conv2d(x, 6, 3, groups=3), "groups 3 must divide 4 channels"),
        (lambda x: pm.layers.conv2d(x, 6, [3, 3, 3]), "filter_size is"),
        (lambda x: pm.layers.conv2d(x, 6, 9), "conv2d"),
        (lambda x: pm.layers.conv2d(x, 6, 3.0), "filter_size is 3.0"),
        (lambda x: pm.layers.conv2d(x, "6", 3), "conv2d: num_filters is '6'"),
        (lambda x: pm.layers.conv2d(x, 0, 3), "conv2d: num_filters is 0"),
        (lambda x: pm.layers.conv2d(x, 6, 3, groups=2.0), "conv2d: groups is 2.0"),
        (lambda x: pm.layers.conv2d(x, 6, -1), "filter_size is -1, it must be an integer, at least 1, or [height, width]"),
        (lambda x: pm.layers.conv2d(x, 6, True), "filter_size is True"),
        (lambda x: pm.layers.conv2d(x, 6, 3, stride=[1, 0]), "stride is [1, 0], it must be an integer, at least 1"),
        (lambda x: pm.layers.conv2d(x, 6, 3, padding=None), "padding is None"),
        (lambda x: pm.layers.conv2d(x, 6, 3, padding=[1, 2, 3]), "at least 0, or [height, width] or [top, bottom, left, right]"),
        (lambda x: pm.layers.conv2d(x, 6, 3, padding=[1.5, 1, 1, 1]), "padding is [1.5, 1, 1, 1]"),
        (lambda x: pm.layers.pool2d(x, 2, pool_padding=[1, 2, 3]), "pool_padding is [1, 2, 3]"),
        (lambda x: pm.layers.pool2d(x, 2, pool_padding="full"), "pool_padding is 'full'"),
        (lambda x: pm.layers.adaptive_pool2d(x, [0, 3]), "pool_size is [0, 3], it must be an integer, at least 1"),
        (lambda x: pm.layers.unfold(x, 2, paddings=[1, 2, 3]), "[height, width] or [top, left, bottom, right]"),
        (lambda x: pm.layers.conv2d(x, 6, 3, padding="full"), "'SAME' or 'VALID'"),
        (lambda x: pm.layers.pool2d(x), "pool_size is missing"),
        (lambda x: pm.layers.pool2d(x, 2, "median"), "'max' or 'avg'"),
    ],
)
def test_refusals(mistake, words):
    with pytest.raises(pm.Error) as caught:
        mistake(pm.layers.data("x", [-1, 4, 7, 6]))
    assert words in str(caught.value) and "test_conv.py:" in str(caught.value)


@pytest.mark.parametrize(
    "options, shape",
    [
        ({"filter_size": 3}, (-1, 6, 9, 8)),
        ({"filter_size": [4, 2], "stride": 2, "padding": 1}, (-1, 6, 14, 10)),
        ({"filter_size": 3, "stride": 2, "output_size": [16, 14]}, (-1, 6, 16, 14)),
        ({"output_size": [14, 12], "stride": 2}, None),
        ({"output_size": 9, "dilation": [2, 1], "padding": [1, 0]}, None),
        ({"filter_size": 2, "groups": 2}, (-1, 6, 8, 7)),
    ],
)
def test_conv2d_transpose_is_the_transpose_of_conv2d(options, shape):
    out = pm.layers.conv2d_transpose(pm.layers.data("x", [-1, 4, 7, 6]), 6, bias_attr=False, **options)
    (weight,) = pm.default_main_program().all_parameters()
    assert shape is None or out.shape == shape
    if "output_size" in options:
        assert out.shape[2:] == tuple(np.broadcast_to(options["output_size"], 2))
    assert weight.shape[:2] == (4, 6 // options.get("groups", 1))
    (value,) = run(out, x=IMAGE)
    assert value.shape[2:] == out.shape[2:]
    # <conv2d(value), x> = <value, conv2d_transpose(x)>
    back = {key: options[key] for key in ("stride", "padding", "dilation", "groups") if key in options}
    with pm.program_guard(pm.Program(), pm.Program()):
        attr = pm.ParamAttr("w", pm.initializer.NumpyArrayInitializer(pm.global_scope().get(weight.name)))
        (again,) = run(
            pm.layers.conv2d(
                pm.layers.data("y", [-1, *out.shape[1:]]), 4, list(weight.shape[2:]), param_attr=attr, bias_attr=False, **back
            ),
            y=value,
        )
    assert (again * IMAGE).sum() == pytest.approx((value * value).sum(), rel=1e-4)


def test_conv2d_transpose_with_bias_and_activation():
    x = pm.layers.data("x", [-1, 4, 7, 6])
    (value,) = run(
        pm.layers.conv2d_transpose(x, 6, filter_size=3, act="relu", bias_attr=pm.initializer.Constant(-100.0)), x=IMAGE
    )
    assert pm.global_scope().get("conv2d_transpose_0.b_0").shape == (6,) and not value.any()


def test_adaptive_pool2d():
    x = pm.layers.data("x", [-1, 4, 7, 6])
    values = run(pm.layers.adaptive_pool2d(x, [1, 2]), pm.layers.adaptive_pool2d(x, 1, "avg"), x=IMAGE)
    np.testing.assert_array_equal(values[0][:, :, 0, 1], IMAGE[:, :, :, 3:].max((2, 3)))
    np.testing.assert_allclose(values[1][:, :, 0, 0], IMAGE.mean((2, 3)), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "options, words",
    [
        ({}, "filter_size is missing"),
        ({"filter_size": 3, "groups": 3}, "groups 3 must divide 4 channels"),
        ({"output_size": 3}, "is less than with any filter; for a filter of that size give filter_size=[3, 3]"),
        ({"filter_size": 3, "output_size": 20}, "conv2d_transpose"),
    ],
)
def test_conv2d_transpose_refusals(options, words):
    with pytest.raises(pm.Error) as caught:
        pm.layers.conv2d_transpose(pm.layers.data("x", [-1, 4, 7, 6]), 6, **options)
    assert words in str(caught.value) and "test_conv.py:" in str(caught.value)


def test_max_pool2d_with_index():
    greatest, places = pm.layers.max_pool2d_with_index(pm.layers.data("x", [-1, 4, 7, 6]), [7, 3], [7, 3])
    values, where = run(greatest, places, x=IMAGE)
    parts = IMAGE.reshape(2, 4, 7, 2, 3)
    np.testing.assert_array_equal(values[:, :, 0], parts.max((2, 4)))
    np.testing.assert_array_equal(np.take_along_axis(IMAGE.reshape(2, 4, 42), where[:, :, 0], 2), values[:, :, 0])
    assert places.stop_gradient and where.dtype == np.int32
