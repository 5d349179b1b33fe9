# Layers that reshape, slice, join, repeat and select, against NumPy.
import numpy as np
import pytest

import paddle_mini as pm
from programs import run

L = pm.layers
X = np.arange(24, dtype="float32").reshape(2, 3, 4)
UNIT = X.reshape(2, 1, 3, 1, 4)
EDGES = {"mode": "edge"}
IMAGE = X[None]


@pytest.mark.parametrize(
    "layer, expected",
    [
        (lambda x: L.squeeze(L.unsqueeze(x, [0, 2])), X),
        (lambda x: L.unsqueeze(x, 1), X[:, None]),
        (lambda x: L.unsqueeze(x, [1, -2]), UNIT),
        (lambda x: L.squeeze(L.unsqueeze(x, [1, 3]), axes=[1, 2]), X[:, :, None]),
        (lambda x: L.split(x, 2, dim=2)[1], X[:, :, 2:]),
        (lambda x: L.split(x, [1, -1])[1], X[:, :, 1:]),
        (lambda x: L.split(x, 3, dim=1)[2], X[:, 2:]),
        (lambda x: L.stack([x, x * 2.0], axis=1), np.stack([X, X * 2], 1)),
        (lambda x: L.stack(x), X[None]),
        (lambda x: L.unstack(x, axis=1)[2], X[:, 2]),
        (lambda x: L.unbind(x, axis=-1)[3], X[..., 3]),
        (lambda x: L.expand(x, [2, 1, 3]), np.tile(X, (2, 1, 3))),
        (lambda x: L.tile(x, [2, 1, 3]), np.tile(X, (2, 1, 3))),
        (lambda x: L.broadcast_to(L.unsqueeze(x, 1), [-1, 2, -1, -1]), np.repeat(X[:, None], 2, 1)),
        (lambda x: L.expand_as(L.slice(x, [0], [0], [1]), x), np.repeat(X[:1], 2, 0)),
        (lambda x: L.pad(x, [0, 1, 2, 0, 0, 0], pad_value=7.0), np.pad(X, [(0, 1), (2, 0), (0, 0)], constant_values=7)),
        (lambda x: L.flip(x, 1), X[:, ::-1]),
        (lambda x: L.flip(x, [0, 2]), X[::-1, :, ::-1]),
        (lambda x: L.roll(x, 5), np.roll(X, 5)),
        (lambda x: L.roll(x, [1, -1], [0, 2]), np.roll(X, (1, -1), (0, 2))),
        (lambda x: L.slice(x, [1, 2], [1, -3], [3, -1]), X[:, 1:3, -3:-1]),
        (lambda x: L.strided_slice(x, [2], [3], [0], [-2]), X[:, :, 3:0:-2]),
        (lambda x: L.reshape(x, [-1, 2]), X.reshape(-1, 2)),
        (lambda x: L.gather(x, L.assign(np.array([1, 0, 1])), axis=1), X[:, [1, 0, 1]]),
        (lambda x: L.index_select(x, L.assign(np.array([3, 0])), axis=2), X[:, :, [3, 0]]),
        (lambda x: L.where(x > 5.0, x, -x), np.where(X > 5, X, -X)),
        (lambda x: L.zeros_like(x), X * 0),
        (lambda x: L.ones_like(x), X * 0 + 1),
        (lambda x: L.full_like(x, 7, "int64"), np.full(X.shape, 7)),
        (lambda x: L.fill_constant_batch_size_like(x, [1, 5], "int64", 7), np.full((2, 5), 7)),
        (lambda x: L.one_hot(L.cast(x, "int64"), 24), np.eye(24, dtype="float32")[X.astype(int)]),
        (lambda x: L.one_hot(L.cast(x, "int32"), 3, allow_out_of_range=True)[0, 0], np.eye(4, 3, dtype="float32")),
    ],
)
def test_layers_compute_what_numpy_does(layer, expected):
    out = layer(L.data("x", [2, 3, 4]))
    (value,) = run(out, x=X)
    assert (value.dtype, value.shape, out.shape) == (expected.dtype, expected.shape, expected.shape)
    np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize(
    "layer, expected",
    [
        (lambda x: L.reduce_max(x, dim=1), X.max(1)),
        (lambda x: L.reduce_min(x, dim=[0, 2], keep_dim=True), X.min((0, 2), keepdims=True)),
        (lambda x: L.reduce_prod(x / 8.0 + 1.0), (X / 8 + 1).prod()),
        (lambda x: L.reduce_all(x > 3.0, dim=[1, 2]), (X > 3).all((1, 2))),
        (lambda x: L.reduce_any(x > 22.5, dim=0), (X > 22.5).any(0)),
        (lambda x: L.argmax(x, axis=-1), X.argmax(-1)),
        (lambda x: L.argmin(x, axis=1, keepdim=True, dtype="int32"), X.argmin(1, keepdims=True).astype("int32")),
        (lambda x: L.argmax(x, axis=None), np.array(X.argmax())),
        (lambda x: L.cumsum(x), X.cumsum()),
        (lambda x: L.cumsum(x, axis=1, reverse=True), X[:, ::-1].cumsum(1)[:, ::-1]),
        (lambda x: L.cumsum(x, axis=0, exclusive=True), X.cumsum(0) - X),
    ],
)
def test_reductions(layer, expected):
    (value,) = run(layer(L.data("x", [-1, 3, 4])), x=X)
    assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(value, expected, rtol=1e-5)


def test_gradients_go_through():
    w = L.create_parameter([3, 4], name="w")
    first, second = L.split(w, [1, 2], dim=0)
    loss = L.reduce_sum(L.squeeze(L.unsqueeze(second, 0), 0) * 2.0) + L.reduce_sum(L.stack([first, first], axis=0))
    pairs = pm.append_backward(loss)
    (value,) = run(pairs[0][1])
    np.testing.assert_array_equal(value, np.full((3, 4), 2.0))


@pytest.mark.parametrize(
    "options, padded",
    [
        ({}, {"mode": "constant"}),
        ({"pad_value": 2.0}, {"mode": "constant", "constant_values": 2.0}),
        ({"mode": "reflect"}, {"mode": "reflect"}),
        (EDGES, EDGES),
        ({"mode": "replicate"}, EDGES),
        ({"mode": "circular"}, {"mode": "wrap"}),
    ],
)
def test_pad2d(options, padded):
    (value,) = run(L.pad2d(L.data("x", [-1, 2, 3, 4]), [1, 2, 3, 0], **options), x=IMAGE)
    expected = np.pad(IMAGE, [(0, 0), (0, 0), (1, 2), (3, 0)], **padded)
    np.testing.assert_array_equal(value, expected)
    last = L.pad2d(L.data("last", [-1, 3, 4, 2]), [1, 2, 3, 0], data_format="NHWC", **options)
    (value,) = run(last, x=IMAGE, last=np.ascontiguousarray(IMAGE.transpose(0, 2, 3, 1)))
    np.testing.assert_array_equal(value, expected.transpose(0, 2, 3, 1))


def test_resize():
    x = L.data("x", [-1, 2, 3, 4])
    values = run(
        L.resize_nearest(x, scale=2.0, align_corners=False), L.resize_bilinear(x, [5, 7]), L.resize_nearest(x, [3, 4]), x=IMAGE
    )
    np.testing.assert_array_equal(values[0], IMAGE.repeat(2, 2).repeat(2, 3))
    between = np.linspace(0, 8, 5)[:, None] + np.linspace(0, 3, 7)
    np.testing.assert_allclose(values[1][0, 0], between, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(values[2], IMAGE)


def test_image_resize():
    x, y = L.data("x", [-1, 2, 3, 4]), L.data("y", [-1, 1, 5, 7])
    factor = L.data("factor", [1])
    by_size = L.image_resize(x, L.slice(L.shape(y), [0], [2], [4]))
    by_factor = L.image_resize(x, scale=factor, resample="nearest", align_corners=False)
    short = L.image_resize_short(x, 5)
    assert short.shape == (-1, 2, 5, 7)
    arrays = {"x": IMAGE, "y": np.zeros((1, 1, 5, 7), "float32"), "factor": np.array([2.0], "float32")}
    values = run(by_size, short, by_factor, L.resize_bilinear(x, [5, 7]), **arrays)
    np.testing.assert_array_equal(values[0], values[3])
    np.testing.assert_array_equal(values[1], values[3])
    np.testing.assert_array_equal(values[2], IMAGE.repeat(2, 2).repeat(2, 3))


def test_im2sequence():
    rows = L.im2sequence(L.data("x", [-1, 2, 3, 4]), [2, 1], [1, 2], [1, 0, 0, 1])
    (value,) = run(rows, x=IMAGE)
    padded = np.pad(IMAGE, [(0, 0), (0, 0), (1, 0), (0, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 1), axis=(2, 3))[:, :, :, ::2]
    np.testing.assert_array_equal(value, windows.transpose(0, 2, 3, 1, 4, 5).reshape(value.shape))


def test_random_layers_draw_what_they_say():
    shape = [200, 100]
    outs = [
        L.uniform_random(shape, min=2.0, max=4.0),
        L.gaussian_random(shape, mean=3.0, std=0.5),
        L.truncated_gaussian_random(shape, std=2.0),
        L.uniform_random([4], seed=3),
        L.uniform_random([4], seed=3),
    ]
    uniform, normal, cut, first, second = run(*outs)
    assert uniform.min() >= 2 and uniform.max() < 4 and uniform.mean() == pytest.approx(3, abs=0.02)
    assert normal.mean() == pytest.approx(3, abs=0.02) and normal.std() == pytest.approx(0.5, abs=0.02)
    assert 3.9 < np.abs(cut).max() <= 4
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "mistake, words",
    [
        (lambda x: L.split(x, 2.5), "split: num_or_sections is 2.5"),
        (lambda x: L.split(x, 5), "split"),
        (lambda x: L.unbind(x), "unbind: dimension 0 of 'x'"),
        (lambda x: L.unstack(3), "unstack: the input is 3"),
        (lambda x: L.stack(3), "stack: X is 3, it must be a list"),
        (lambda x: L.expand_as(x, 3), "expand_as: the input is 3"),
        (lambda x: L.one_hot(x, 0), "one_hot: depth is 0"),
        (lambda x: L.one_hot(x, 3), "one_hot_v2"),
        (lambda x: L.pad2d(x, 3), "paddings is 3"),
        (lambda x: L.pad2d(x, data_format="HW"), "data_format is 'HW'"),
        (lambda x: L.where(x, x, x), "where"),
        (
            lambda x: L.resize_bilinear(x, scale=2.0, data_format="NCW"),
            "resize_bilinear: data_format is 'NCW', it must be 'NCHW' or",
        ),
        (
            lambda x: L.resize_linear(x, scale=2.0, data_format="NCHW"),
            "resize_linear: data_format is 'NCHW', it must be 'NCW' or",
        ),
        (lambda x: L.resize_bilinear(x), "give either out_shape or scale"),
        (lambda x: L.resize_bilinear(x, x, scale=2.0), "give either out_shape or scale"),
        (
            lambda x: L.image_resize(x, [5, 7], resample="LANCZOS"),
            "image_resize: resample is 'LANCZOS', it must be one of 'LINEAR'",
        ),
        (lambda x: L.image_resize_short(x, 5), r"image_resize_short: 'x' has shape \[-1, 3, 4\], which has no axis 3"),
        (lambda x: L.im2sequence(x, [1, 2, 3]), r"filter_size is \[1, 2, 3\]"),
        (lambda x: L.argmax(x, axis=3), "arg_max"),
        (lambda x: L.resize_nearest(x, 3), "out_shape is 3"),
        (lambda x: L.gather(x, x), "gather"),
    ],
)
def test_refusals(mistake, words):
    with pytest.raises(pm.Error, match=words) as caught:
        mistake(L.data("x", [-1, 3, 4]))
    assert "test_rearrange.py:" in str(caught.value)


def test_unfold_and_fold():
    patches = L.unfold(L.data("x", [-1, 2, 3, 4]), [2, 1], strides=[1, 2], paddings=[1, 0, 0, 1])
    value, again = run(patches, L.fold(patches, [3, 4], [2, 1], strides=[1, 2], paddings=[1, 0, 0, 1]), x=IMAGE)
    padded = np.pad(IMAGE, [(0, 0), (0, 0), (1, 0), (0, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 1), axis=(2, 3))[:, :, :, ::2]
    np.testing.assert_array_equal(value, windows.transpose(0, 1, 4, 5, 2, 3).reshape(1, 4, -1))
    counts = np.array([[2, 0, 2, 0], [2, 0, 2, 0], [1, 0, 1, 0]])  # number of patches that contain a pixel
    np.testing.assert_array_equal(again, IMAGE * counts)
    (same,) = run(L.unfold(L.data("x", [-1, 2, 3, 4]), 3, paddings=1), x=IMAGE)
    assert same.shape == (1, 18, 12)
    with pytest.raises(pm.ProgramError, match=r"kernel_sizes is \[1, 2, 3\]"):
        L.unfold(L.data("x", [-1, 2, 3, 4]), [1, 2, 3])


def test_channels_change_places():
    channels = np.arange(8, dtype="float32").reshape(2, 4, 1, 1)
    x = L.data("x", [2, 4, 1, 1])
    outs = [
        L.channel_shuffle(x, groups=2),
        L.maxout(x, 2),
        L.temporal_shift(x, 2),
        L.affine_channel(x, L.assign([1.0, 2.0, 3.0, 4.0]), L.assign([0.0, 0.0, 1.0, 0.0])),
        L.pixel_unshuffle(L.reshape(x, [1, 1, 2, 4]), downscale_factor=2),
    ]
    shuffled, greatest, shifted, scaled, parts = run(*outs, x=channels)
    np.testing.assert_array_equal(shuffled[0].ravel(), [0, 2, 1, 3])
    np.testing.assert_array_equal(greatest.reshape(2, 2), [[1, 3], [5, 7]])
    np.testing.assert_array_equal(shifted.reshape(2, 4), [[0, 5, 2, 3], [0, 0, 6, 7]])
    np.testing.assert_array_equal(scaled.reshape(2, 4), [[0, 2, 7, 12], [4, 10, 19, 28]])
    np.testing.assert_array_equal(parts.reshape(4, 2), [[0, 2], [1, 3], [4, 6], [5, 7]])


def test_grid_sampler_reads_at_places():
    grid = np.array([[[[-1, -1], [1, 1], [-1 / 3, 0]]]], "float32")
    (value,) = run(L.grid_sampler(L.data("x", [-1, 2, 3, 4]), L.data("grid", [-1, 1, 3, 2])), x=IMAGE, grid=grid)
    expected = np.stack([IMAGE[0, :, 0, 0], IMAGE[0, :, 2, 3], IMAGE[0, :, 1, 1]], 1)
    np.testing.assert_allclose(value[0, :, 0], expected, rtol=1e-6)
