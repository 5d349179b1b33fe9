# Convolution and pooling of volumes; all geometry is in the operators' tests.
import numpy as np
import pytest

import paddle_mini as pm
from programs import run

L = pm.layers
VOLUME = np.random.default_rng(0).normal(size=(2, 4, 5, 6, 7)).astype("float32")


def test_conv3d_is_a_correlation_with_bias_and_activation():
    x = L.data("x", [-1, 4, 5, 6, 7])
    out = L.conv3d(x, 3, [3, 2, 1], act="relu", bias_attr=pm.initializer.Uniform())
    weight, bias = pm.default_main_program().all_parameters()
    assert (weight.name, weight.shape, bias.name, bias.shape) == ("conv3d_0.w_0", (3, 4, 3, 2, 1), "conv3d_0.b_0", (3,))
    (value,) = run(out, x=VOLUME)
    windows = np.lib.stride_tricks.sliding_window_view(VOLUME, (3, 2, 1), axis=(2, 3, 4))
    filters, shift = pm.global_scope().get(weight.name), pm.global_scope().get(bias.name)[:, None, None, None]
    expected = np.maximum(np.einsum("ncdhwijk,fcijk->nfdhw", windows, filters) + shift, 0)
    np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-5)
    assert out.shape == (-1, 3, 3, 5, 7)


@pytest.mark.parametrize(
    "options, shape",
    [
        ({"padding": "SAME", "stride": 2}, (-1, 6, 3, 3, 4)),
        ({"padding": [1, 0, 1]}, (-1, 6, 5, 4, 7)),
        ({"padding": [0, 1, 0, 0, 2, 0], "groups": 2}, (-1, 6, 4, 4, 7)),
        ({"dilation": 2}, (-1, 6, 1, 2, 3)),
    ],
)
def test_conv3d_shapes(options, shape):
    assert L.conv3d(L.data("x", [-1, 4, 5, 6, 7]), 6, 3, **options).shape == shape


def test_pool3d():
    x = L.data("x", [-1, 4, 5, 6, 7])
    greatest, mean, last = run(
        L.pool3d(x, 2, "max", 2),
        L.pool3d(x, pool_type="avg", global_pooling=True),
        L.pool3d(L.transpose(x, [0, 2, 3, 4, 1]), [5, 6, 7], "avg", data_format="NDHWC"),
        x=VOLUME,
    )
    np.testing.assert_array_equal(greatest[:, :, 0, 0, 0], VOLUME[:, :, :2, :2, :2].max((2, 3, 4)))
    assert greatest.shape == (2, 4, 2, 3, 3)
    np.testing.assert_allclose(mean[:, :, 0, 0, 0], VOLUME.mean((2, 3, 4)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(last[:, 0, 0, 0], VOLUME.mean((2, 3, 4)), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "mistake, words",
    [
        (lambda x: L.conv3d(x, 6, [3, 3]), r"filter_size is \[3, 3\], it must be .* \[depth, height, width\]"),
        (lambda x: L.conv3d(x, 6, 3, groups=3), "groups 3 must divide 4 channels"),
        (lambda x: L.conv3d(x, 6, 9), "conv3d"),
        (lambda x: L.conv3d(x, 6, 3, data_format="NCHW"), "conv3d: data_format is 'NCHW'"),
        (lambda x: L.conv3d(x, 0, 3), "num_filters is 0"),
        (lambda x: L.pool3d(x), "pool3d: pool_size is missing"),
        (lambda x: L.pool3d(x, 2, "sum"), "pool_type is 'sum'"),
        (lambda x: L.conv3d(x, 6, 3, padding="most"), "padding is 'most'"),
        (lambda x: L.conv3d(x, 6, 3, padding=[1, 2]), r"\[front, back, top, bottom, left, right\]"),
        (lambda x: L.pool3d(x, 2, pool_padding=-1), "pool_padding is -1, it must be an integer, at least 0"),
    ],
)
def test_refusals(mistake, words):
    with pytest.raises(pm.Error, match=words) as caught:
        mistake(L.data("x", [-1, 4, 5, 6, 7]))
    assert "test_volume.py:" in str(caught.value)
