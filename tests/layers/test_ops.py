# Layers of one line: each computes the same as NumPy, and takes its attributes as keywords.
import numpy as np
import pytest

import paddle_mini as pm
from programs import run

X = np.array([[-2.5, -0.75, -0.25], [0.25, 0.75, 2.5]], "float32")
P = np.array([[0.5, 1.5, 2.0], [3.0, 0.25, 1.0]], "float32")
UNIT = X / 4
SIGMOID = 1 / (1 + np.exp(-X))
L = pm.layers


def at(array, **layers):
    """One case for each layer and its result for this array."""
    return [(name, array, expected) for name, expected in layers.items()]


CASES = [
    *at(UNIT, acos=np.arccos(UNIT), asin=np.arcsin(UNIT), atan=np.arctan(UNIT), atanh=np.arctanh(UNIT)),
    *at(P + 1, acosh=np.arccosh(P + 1)),
    *at(
        P, log=np.log(P), log10=np.log10(P), log1p=np.log1p(P), log2=np.log2(P), reciprocal=1 / P, rsqrt=P**-0.5, sqrt=np.sqrt(P)
    ),
    *at(
        X,
        abs=np.abs(X),
        asinh=np.arcsinh(X),
        ceil=np.ceil(X),
        cos=np.cos(X),
        cosh=np.cosh(X),
        expm1=np.expm1(X),
        floor=np.floor(X),
        logsigmoid=np.log(SIGMOID),
        mish=X * np.tanh(np.log1p(np.exp(X))),
        relu6=X.clip(0, 6),
        round=np.sign(X) * np.floor(np.abs(X) + 0.5),
        selu=1.0507009873554805 * np.where(X > 0, X, 1.6732632423543772 * np.expm1(X)),
        silu=X * SIGMOID,
        sin=np.sin(X),
        sinh=np.sinh(X),
        soft_relu=np.log1p(np.exp(X)),
        softplus=np.log1p(np.exp(X)),
        softsign=X / (1 + np.abs(X)),
        stanh=1.7159 * np.tanh(0.67 * X),
        swish=X * SIGMOID,
        tan=np.tan(X),
        tanh_shrink=X - np.tanh(X),
        trunc=np.trunc(X),
        elu=np.where(X > 0, X, np.expm1(X)),
        celu=np.where(X > 0, X, np.expm1(X)),
        leaky_relu=np.where(X > 0, X, 0.02 * X),
        hard_sigmoid=(0.2 * X + 0.5).clip(0, 1),
        hard_swish=X * (X + 3).clip(0, 6) / 6,
        hard_shrink=np.where(np.abs(X) > 0.5, X, 0),
        thresholded_relu=np.where(X > 1, X, 0),
        brelu=X.clip(0, 24),
        softshrink=np.sign(X) * np.maximum(np.abs(X) - 0.5, 0),
        isfinite=np.isfinite(X),
        isinf=np.isinf(X),
        isnan=np.isnan(X),
        log_softmax=X - np.log(np.exp(X).sum(1, keepdims=True)),
        erf=np.array([[-0.999593048, -0.711155634, -0.276326390], [0.276326390, 0.711155634, 0.999593048]]),
        gelu=X * np.array([[0.0062096653, 0.2266273524, 0.4012936743], [0.5987063257, 0.7733726476, 0.9937903347]]),
    ),
    *at(X > 0, logical_not=X <= 0),
    *at(np.array([5, -3]), bitwise_not=np.array([-6, 2])),
]


@pytest.mark.parametrize("name, array, expected", CASES, ids=[case[0] for case in CASES])
def test_layers_of_one_input(name, array, expected):
    (value,) = run(getattr(L, name)(L.data("x", array.shape, array.dtype)), x=array)
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("equal", X == P),
        ("not_equal", X != P),
        ("less_than", X < P),
        ("less_equal", X <= P),
        ("greater_than", X > P),
        ("greater_equal", X >= P),
        ("elementwise_mod", X % P),
        ("elementwise_floordiv", X // P),
        ("elementwise_fmax", np.fmax(X, P)),
        ("elementwise_fmin", np.fmin(X, P)),
        ("atan2", np.arctan2(X, P)),
        ("heaviside", np.heaviside(X, P)),
        ("nextafter", np.nextafter(X, P)),
    ],
)
def test_layers_of_two_inputs(name, expected):
    (value,) = run(getattr(L, name)(L.data("x", X.shape), L.data("y", P.shape)), x=X, y=P)
    assert value.dtype == expected.dtype
    np.testing.assert_allclose(value, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "name, function",
    [
        ("logical_and", np.logical_and),
        ("logical_or", np.logical_or),
        ("logical_xor", np.logical_xor),
        ("bitwise_and", np.bitwise_and),
        ("bitwise_or", np.bitwise_or),
        ("bitwise_xor", np.bitwise_xor),
    ],
)
def test_layers_of_two_truths(name, function):
    x, y = np.array([True, True, False, False]), np.array([True, False, True, False])
    (value,) = run(getattr(L, name)(L.data("x", [4], "bool"), L.data("y", [4], "bool")), x=x, y=y)
    np.testing.assert_array_equal(value, function(x, y))


def test_softmax_with_masks():
    scores, mask = np.random.RandomState(1).rand(2, 3, 4, 4).astype("float32"), np.zeros((2, 1, 4, 4), "float32")
    mask[:] = np.triu(np.full((4, 4), -1e9), 1)
    x = L.data("x", [-1, 3, 4, 4])
    masked, triangle = run(
        L.softmax_mask_fuse(x, L.data("mask", [-1, 1, 4, 4])), L.softmax_mask_fuse_upper_triangle(x), x=scores, mask=mask
    )
    weights = np.tril(np.exp(scores))
    np.testing.assert_allclose(masked, weights / weights.sum(-1, keepdims=True), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(triangle, masked, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "layer, expected",
    [
        (lambda x: L.leaky_relu(x, alpha=0.5), np.where(X > 0, X, 0.5 * X)),
        (lambda x: L.pow(x, 3.0), X**3),
        (lambda x: L.softshrink(x, 0.25), np.sign(X) * np.maximum(np.abs(X) - 0.25, 0)),
        (lambda x: L.log_softmax(x, axis=0), X - np.log(np.exp(X).sum(0))),
        (lambda x: L.clip_by_norm(x, max_norm=1.0), X / np.linalg.norm(X)),
        (lambda x: L.shape(x), np.array([2, 3])),
    ],
)
def test_attributes(layer, expected):
    (value,) = run(layer(L.data("x", [-1, 3])), x=X)
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


def test_prelu_has_a_parameter():
    x = L.data("x", [-1, 3])
    outs = [L.prelu(x, mode, param_attr=pm.ParamAttr(mode)) for mode in ("all", "channel", "element")]
    assert [p.shape for p in pm.default_main_program().all_parameters()] == [(1,), (1, 3), (1, 3)]
    for value in run(*outs, x=X):
        np.testing.assert_allclose(value, np.where(X > 0, X, 0.25 * X))
    pixels = L.prelu(L.data("image", [-1, 4, 5, 6]), "channel")
    assert pixels.shape == (-1, 4, 5, 6)
    assert pm.default_main_program().all_parameters()[-1].shape == (1, 4, 1, 1)
    with pytest.raises(pm.ProgramError, match="mode is 'some'"):
        L.prelu(x, "some")
    with pytest.raises(pm.ShapeError, match="must be known"):
        L.prelu(L.data("y", [-1, -1]), "channel")


def test_lookup_table_takes_ids_with_an_axis_of_one():
    table = L.create_parameter([5, 2], name="table")
    (value,) = run(L.lookup_table(table, L.data("ids", [-1, 1], "int64")), ids=np.array([[3], [1]]))
    np.testing.assert_array_equal(value, pm.global_scope().get("table")[[3, 1]])


COMPARISONS = ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_take_a_number(name, dtype):
    values = np.array([[0, 1, 2], [2, 1, 0]], dtype)
    (value,) = run(getattr(L, name)(L.data("x", [-1, 3], dtype), 1), x=values)
    assert value.dtype == bool
    np.testing.assert_array_equal(value, getattr(np, name.replace("than", "").strip("_"))(values, 1))


def test_a_comparison_with_a_fraction_of_integers_is_refused():
    x = L.data("x", [-1], "int64")
    before = pm.default_main_program().to_bytes()
    with pytest.raises(pm.ProgramError, match="'x' is int64 and the number is not whole(.|\n)*added at"):
        L.equal(x, 0.5)
    assert pm.default_main_program().to_bytes() == before


def test_selected_rows_are_merged_and_seen():
    out = L.embedding(L.data("ids", [-1], "int64"), [5, 2], is_sparse=True)
    gradient = pm.append_backward(L.reduce_sum(out))[0][1]
    merged = L.merge_selected_rows(gradient)
    rows, values = run(merged, L.get_tensor_from_selected_rows(merged), ids=np.array([3, 1, 3]))
    assert list(rows.rows) == [1, 3]
    np.testing.assert_array_equal(values, [[1, 1], [2, 2]])


def test_pixel_shuffle():
    image = np.arange(8, dtype="float32").reshape(1, 4, 1, 2)
    (value,) = run(L.pixel_shuffle(L.data("x", [1, 4, 1, 2]), upscale_factor=2), x=image)
    np.testing.assert_array_equal(value, [[[[0, 2, 1, 3], [4, 6, 5, 7]]]])
