# Layers over sequences: their operators and results; the operators' own tests have the rest.
import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, run, start
from sequence_cases import lod_tensor, split

X = lod_tensor(np.random.default_rng(0).normal(size=(5, 4)).astype("float32"), (2, 3))


def data(name="x", width=4, dtype="float32"):
    return pm.layers.data(name, [-1, width], dtype=dtype, lod_level=1)


def fetched(*variables, **feed):
    return start().run(feed=feed, fetch_list=list(variables), return_numpy=False)


@pytest.mark.parametrize(
    "kind, function",
    [
        ("sum", lambda rows: rows.sum(0)),
        ("average", lambda rows: rows.mean(0)),
        ("last", lambda rows: rows[-1]),
        ("sqrt", lambda rows: rows.sum(0) / len(rows) ** 0.5),
        ("MAX", lambda rows: rows.max(0)),
        ("first", lambda rows: rows[0]),
    ],
)
def test_pools(kind, function):
    (value,) = run(pm.layers.sequence_pool(data(), kind), x=X)
    np.testing.assert_allclose(value, [function(rows) for rows in split(X)], rtol=1e-5)


def test_first_and_last_step():
    x = data()
    first, last = run(pm.layers.sequence_first_step(x), pm.layers.sequence_last_step(x), x=X)
    assert np.array_equal(first, X.array[[0, 2]]) and np.array_equal(last, X.array[[1, 4]])


def test_an_empty_sequence_gives_the_pad_value():
    (value,) = run(pm.layers.sequence_pool(data(), "sum", pad_value=7.0), x=lod_tensor(X.array[:2], (2, 0)))
    assert value[1].tolist() == [7] * 4


def test_a_pool_that_is_none():
    with pytest.raises(pm.ProgramError, match=r"(?s)'WORST'.*test_sequence.py:"):
        pm.layers.sequence_pool(data(), "worst")
    with pytest.raises(pm.ProgramError, match="pool_type is 3"):
        pm.layers.sequence_pool(data(), 3)


def test_sequence_conv():
    out = pm.layers.sequence_conv(data(), 2, filter_size=3, bias_attr=pm.initializer.Constant(0.5), act="relu")
    assert op_types() == ["sequence_conv", "elementwise_add", "relu"] and out.shape == (-1, 2) and out.lod_level == 1
    assert [p.name for p in pm.default_main_program().global_block().vars.values() if p.persistable] == [
        "sequence_conv_0.w_0",
        "sequence_conv_0.b_0",
    ]
    value, weight = run(out, "sequence_conv_0.w_0", x=X)
    assert weight.shape == (12, 2) and np.abs(weight).max() <= (6 / 14) ** 0.5
    wanted = []
    for rows in split(X):
        padded = np.vstack([np.zeros((1, 4)), rows, np.zeros((1, 4))])
        wanted += [padded[i : i + 3].ravel() @ weight + 0.5 for i in range(len(rows))]
    np.testing.assert_allclose(value, np.maximum(wanted, 0), rtol=1e-4, atol=1e-6)


def test_sequence_conv_starts_where_it_is_told():
    ones = pm.initializer.Constant(1.0)
    (value,) = run(pm.layers.sequence_conv(data(), 1, 2, padding_start=0, param_attr=ones, bias_attr=False), x=X)
    sums = X.array.sum(1)
    np.testing.assert_allclose(
        value[:, 0], [sums[0] + sums[1], sums[1], sums[2] + sums[3], sums[3] + sums[4], sums[4]], rtol=1e-5, atol=1e-6
    )


def test_sequence_conv_refuses():
    x = data()
    with pytest.raises(pm.ProgramError, match="padding must be True"):
        pm.layers.sequence_conv(x, 2, padding=False)
    with pytest.raises(pm.ProgramError, match="contextStride"):
        pm.layers.sequence_conv(x, 2, filter_stride=2)
    with pytest.raises(pm.ShapeError, match="must be known"):
        pm.layers.sequence_conv(pm.layers.data("y", [-1, -1], lod_level=1), 2)


def test_row_conv():
    out = pm.layers.row_conv(data(), 1)
    value, weight = run(out, "row_conv_0.w_0", x=X)
    following = np.vstack([X.array[1], np.zeros(4), X.array[3], X.array[4], np.zeros(4)])
    np.testing.assert_allclose(value, X.array * weight[0] + following * weight[1], rtol=1e-5, atol=1e-6)


def test_softmax_and_reverse():
    x, y = data(width=1), data("y")
    value, back = fetched(
        pm.layers.sequence_softmax(x), pm.layers.sequence_reverse(y), x=lod_tensor(np.zeros((5, 1), "f4"), (2, 3)), y=X
    )
    np.testing.assert_allclose(value.array[:, 0], [1 / 2] * 2 + [1 / 3] * 3)
    assert np.array_equal(back.array, X.array[[1, 0, 4, 3, 2]]) and back.lod == X.lod


def test_expand():
    x, y = pm.layers.data("row", [-1, 1]), data()
    rows = np.array([[1], [2]], "f4")
    one, two = run(pm.layers.sequence_expand(x, y), pm.layers.sequence_expand_as(x, y), row=rows, x=X)
    assert one.ravel().tolist() == two.ravel().tolist() == [1, 1, 2, 2, 2]


def test_concat_and_reshape():
    x = data()
    joined, shaped = fetched(pm.layers.sequence_concat([x, x]), pm.layers.sequence_reshape(x, 2), x=X)
    assert joined.lod == [[0, 4, 10]] and shaped.lod == [[0, 4, 10]] and shaped.array.shape == (10, 2)


def test_pad_and_unpad():
    x = data()
    padded, length = pm.layers.sequence_pad(x, -1.0, maxlen=4)
    values = fetched(padded, length, pm.layers.sequence_unpad(padded, length), x=X)
    assert values[0].shape == (2, 4, 4) and (values[0][0, 2:] == -1).all() and values[1].tolist() == [2, 3]
    assert np.array_equal(values[2].array, X.array) and values[2].lod == X.lod
    assert op_types()[:2] == ["fill_constant", "sequence_pad"] and length.stop_gradient


def test_slice_and_scatter():
    x, offset = data(), pm.layers.data("offset", [-1, 1], dtype="int64")
    length, table = pm.layers.data("length", [-1, 1], dtype="int64"), pm.layers.data("table", [-1, 4])
    ids, added = data("ids", 1, "int64"), data("added", 1)
    kept, changed = fetched(
        pm.layers.sequence_slice(x, offset, length),
        pm.layers.sequence_scatter(table, ids, added),
        x=X,
        offset=np.array([[0], [1]]),
        length=np.array([[1], [2]]),
        table=np.zeros((2, 4), "f4"),
        ids=lod_tensor(np.array([[1], [1], [3]]), (2, 1)),
        added=lod_tensor(np.array([[1], [2], [4]], "f4"), (2, 1)),
    )
    assert np.array_equal(kept.array, X.array[[0, 3, 4]]) and kept.lod == [[0, 1, 3]]
    assert changed.tolist() == [[0, 3, 0, 0], [0, 0, 0, 4]]


def test_mask():
    x, most = pm.layers.data("x", [-1], dtype="int64"), pm.layers.data("most", [1], dtype="int64")
    values = run(
        pm.layers.sequence_mask(x),
        pm.layers.sequence_mask(x, 4, "float32"),
        pm.layers.sequence_mask(x, most),
        x=np.array([2, 0, 3]),
        most=np.array([1]),
    )
    assert values[0].tolist() == [[1, 1, 0], [0, 0, 0], [1, 1, 1]] and values[0].dtype == np.int64
    assert values[1].shape == (3, 4) and values[1].dtype == np.float32
    assert values[2].tolist() == [[1], [0], [1]]


def test_enumerate_and_erase():
    x = data(width=1, dtype="int64")
    rows, left = fetched(
        pm.layers.sequence_enumerate(x, 2, pad_value=9),
        pm.layers.sequence_erase(x, [4]),
        x=lod_tensor(np.array([[3], [4], [5], [4]]), (2, 2)),
    )
    assert rows.array.tolist() == [[3, 4], [4, 9], [5, 4], [4, 9]] and left.array.tolist() == [[3], [5]]
    assert left.lod == [[0, 1, 2]]


def test_lod_reset_and_append():
    x, y = data(), data("y", 1)
    values = fetched(
        pm.layers.lod_reset(x, target_lod=[0, 1, 5]),
        pm.layers.lod_reset(x, y),
        pm.layers.lod_append(x, [0, 1, 2, 3, 4, 5]),
        x=X,
        y=lod_tensor(np.zeros((5, 1), "f4"), (4, 1)),
    )
    assert [value.lod for value in values] == [[[0, 1, 5]], [[0, 4, 5]], [[0, 2, 5], [0, 1, 2, 3, 4, 5]]]
    with pytest.raises(pm.ProgramError, match="give y or target_lod"):
        pm.layers.lod_reset(x)
    with pytest.raises(pm.ProgramError, match="it must be offsets"):
        pm.layers.lod_reset(x, target_lod=[])
