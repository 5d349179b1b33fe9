# Layers that select, sort, compare, slice and sum, against NumPy.
import numpy as np
import pytest

import paddle_mini as pm
from programs import run

L = pm.layers
X = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
Y = np.random.default_rng(1).normal(size=(2, 3, 4)).astype("float32")
M = X[0]
PLACES = np.array([[2, 0, 1, 1]])


def const(values):
    return L.assign(np.array(values))


def added():
    out = X.copy()
    np.add.at(out, (slice(None), [1, 1]), Y[:, :2])
    return out


def put(value, add=False):
    out = M.copy()
    np.put_along_axis(out, PLACES, value + add * np.take_along_axis(M, PLACES, 0), 0)
    return out


@pytest.mark.parametrize(
    "layer, expected",
    [
        (
            lambda x, y: L.addmm(x[0, :, :3], x[1], L.transpose(y[1], [1, 0]), beta=0.5, alpha=2.0),
            0.5 * X[0, :, :3] + 2 * X[1] @ Y[1].T,
        ),
        (lambda x, y: L.bmm(x, L.transpose(y, [0, 2, 1])), X @ Y.transpose(0, 2, 1)),
        (lambda x, y: L.mv(x[0], y[0, 0]), M @ Y[0, 0]),
        (lambda x, y: L.dot(x[0], y[0]), (M * Y[0]).sum(1)),
        (lambda x, y: L.cross(x, y, axis=1), np.cross(X, Y, axis=1)),
        (lambda x, y: L.kron(x[0], y[0]), np.kron(M, Y[0])),
        (lambda x, y: L.dist(x, y, p=3.0), (np.abs(X - Y) ** 3).sum() ** (1 / 3)),
        (
            lambda x, y: L.cos_sim(x[0], y[0]),
            ((M * Y[0]).sum(1) / np.linalg.norm(M, axis=1) / np.linalg.norm(Y[0], axis=1))[:, None],
        ),
        (lambda x, y: L.einsum("bij,bkj->ik", x, y), np.einsum("bij,bkj->ik", X, Y)),
        (lambda x, y: L.matmul(x, y, transpose_y=True, alpha=0.5), 0.5 * X @ Y.transpose(0, 2, 1)),
        (lambda x, y: L.cumprod(x, 2), X.cumprod(2)),
        (lambda x, y: L.trace(x, offset=1, axis1=1, axis2=2), np.trace(X, 1, 1, 2)),
        (lambda x, y: L.tril(x), np.tril(X)),
        (lambda x, y: L.triu(x, diagonal=1), np.triu(X, 1)),
        (lambda x, y: L.diag(x[0, 0], offset=-1), np.diag(X[0, 0], -1)),
        (lambda x, y: L.diag(x[0]), np.diag(M)),
        (lambda x, y: L.reverse(x, 1), X[:, ::-1]),
        (lambda x, y: L.crop(x, [1, 2, 2], [1, 0, 2]), X[1:, :2, 2:]),
        (lambda x, y: L.crop(x, y[:1, :2]), X[:1, :2]),
        (lambda x, y: L.crop_tensor(x, [2, -1, 3], [0, 1, 0]), X[:, 1:, :3]),
        (lambda x, y: L.meshgrid([x[0, 0], y[0, :, 0]])[1], np.meshgrid(X[0, 0], Y[0, :, 0], indexing="ij")[1]),
        (lambda x, y: L.argsort(x, axis=1)[0], np.sort(X, 1)),
        (lambda x, y: L.argsort(x, descending=True)[1], np.argsort(-X)),
        (lambda x, y: L.index_add(x, const([1, 1]), 1, y[:, :2]), added()),
        (
            lambda x, y: L.index_sample(x[0], const([[0, 3], [1, 1], [2, 0]])),
            np.take_along_axis(M, np.array([[0, 3], [1, 1], [2, 0]]), 1),
        ),
        (lambda x, y: L.take_along_axis(x[0], const(PLACES), 0), np.take_along_axis(M, PLACES, 0)),
        (lambda x, y: L.put_along_axis(x[0], const(PLACES), 7.0, 0), put(7)),
        (lambda x, y: L.put_along_axis(x[0], const(PLACES), y[0, :1], 0, reduce="add"), put(Y[0, :1], add=True)),
        (lambda x, y: L.multiplex([x[0], y[0]], const([[1], [0], [1]])), np.stack([Y[0, 0], X[0, 1], Y[0, 2]])),
        (lambda x, y: L.gather_nd(x, const([[1, 0], [0, 2]])), X[[1, 0], [0, 2]]),
        (lambda x, y: L.scatter(x[0], const([2, 0]), y[0, :2]), np.stack([Y[0, 1], X[0, 1], Y[0, 0]])),
        (lambda x, y: L.scatter_nd_add(x[0], const([[1], [1]]), y[0, :2]), M + np.outer([0, 1, 0], Y[0, 0] + Y[0, 1])),
        (lambda x, y: L.searchsorted(L.assign([-1.0, 0.0, 1.0]), x, right=True), np.searchsorted([-1, 0, 1], X, "right")),
        (lambda x, y: L.shard_index(const([[1], [6], [11]]), 12, 2, 1), np.array([[-1], [0], [5]])),
        (lambda x, y: L.allclose(x, x * 1.001, rtol=0.01), np.array(True)),
        (lambda x, y: L.allclose(x, y), np.array(False)),
        (lambda x, y: L.equal_all(x, x), np.array(True)),
        (lambda x, y: L.is_empty(x), np.array(False)),
        (lambda x, y: L.size(x), np.array(24)),
        (lambda x, y: L.eye(2, 3, "int64"), np.eye(2, 3, dtype="int64")),
        (lambda x, y: L.eye(3), np.eye(3, dtype="float32")),
        (lambda x, y: L.arange(5), np.arange(5)),
        (lambda x, y: L.arange(5, 0, -2, "int32"), np.arange(5, 0, -2, dtype="int32")),
        (lambda x, y: L.arange(0, L.size(x), 7), np.arange(0, 24, 7)),
        (lambda x, y: L.logsumexp(x, [0, 2], keepdim=True), np.log(np.exp(X).sum((0, 2), keepdims=True))),
        (lambda x, y: L.logsumexp(x), np.log(np.exp(X).sum())),
        (lambda x, y: L.logcumsumexp(x), np.log(np.exp(X).cumsum())),
        (lambda x, y: L.logcumsumexp(x, axis=1), np.log(np.exp(X).cumsum(1))),
        (lambda x, y: L.norm(x), np.sqrt((X**2).sum())),
        (lambda x, y: L.norm(x, axis=[1, 2]), np.sqrt((X**2).sum((1, 2)))),
        (lambda x, y: L.norm(x, 1, axis=-1, keepdim=True), np.abs(X).sum(-1, keepdims=True)),
        (lambda x, y: L.norm(x, float("inf")), np.abs(X).max()),
        (lambda x, y: L.l1_norm(x), np.abs(X).sum()),
    ],
)
def test_layers_compute_what_numpy_does(layer, expected):
    out = layer(L.data("x", [2, 3, 4]), L.data("y", [2, 3, 4]))
    (value,) = run(out, x=X, y=Y)
    assert value.shape == np.shape(expected)
    assert value.dtype == out.dtype and (value.dtype.kind == np.asarray(expected).dtype.kind)
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


def test_gather_tree_follows_parents():
    ids, parents = np.array([[[1, 2]], [[3, 4]]]), np.array([[[0, 0]], [[1, 0]]])
    (value,) = run(L.gather_tree(L.assign(ids), L.assign(parents)))
    np.testing.assert_array_equal(value, [[[2, 1]], [[3, 4]]])


@pytest.mark.parametrize(
    "mistake, words",
    [
        (lambda x: L.norm(x, 2, axis=[0, 1]), "over 2 axes it must be 'fro'"),
        (lambda x: L.norm(x, "nuc"), "p is 'nuc'"),
        (lambda x: L.put_along_axis(3, x, 1.0, 0), "put_along_axis: the input is 3"),
        (lambda x: L.multiplex(x, x), "multiplex: X is of type Variable"),
        (lambda x: L.meshgrid(x), "meshgrid: X is of type"),
        (lambda x: L.tril(L.size(x)), "tril_triu"),
        (lambda x: L.arange(2.5), "value is 2.5, which is not a valid int64"),
        (lambda x: L.eye(-1), "eye"),
        (lambda x: L.einsum("ij,jk", x), "einsum"),
        (lambda x: L.crop(x, [9]), "crop"),
    ],
)
def test_refusals(mistake, words):
    with pytest.raises(pm.Error, match=words) as caught:
        mistake(L.data("x", [2, 3, 4]))
    assert "test_choices.py:" in str(caught.value)
