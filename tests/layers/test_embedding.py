# embedding: rows of a table, with dense and with sparse gradients.
import numpy as np
import pytest

import paddle_mini as pm
from programs import run, start

IDS = np.array([[1, 3], [3, 0]])


def test_rows_of_the_table():
    out = pm.layers.embedding(pm.layers.data("ids", [-1, 2], dtype="int64"), [5, 4])
    assert out.shape == (-1, 2, 4)
    (value,) = run(out, ids=IDS)
    np.testing.assert_array_equal(value, pm.global_scope().get("embedding_0.w_0")[IDS])


def test_padding_idx_gives_zeros():
    ids = pm.layers.data("ids", [-1, 2], dtype="int64")
    (value,) = run(pm.layers.embedding(ids, [5, 4], padding_idx=-2), ids=IDS)  # row 3
    assert (value[IDS == 3] == 0).all() and (value[IDS != 3] != 0).any()
    with pytest.raises(pm.ProgramError, match="padding_idx 5 is not in a table of 5 rows"):
        pm.layers.embedding(ids, [5, 4], padding_idx=5)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_gradient(is_sparse):
    out = pm.layers.embedding(pm.layers.data("ids", [-1, 2], dtype="int64"), [5, 4], is_sparse=is_sparse)
    pairs = pm.append_backward(pm.layers.reduce_sum(pm.layers.square(out)))
    (gradient,) = start().run(feed={"ids": IDS}, fetch_list=[pairs[0][1]])
    table = pm.global_scope().get("embedding_0.w_0")
    if is_sparse:
        assert isinstance(gradient, pm.SelectedRows)
        assert (list(gradient.rows), gradient.height) == ([1, 3, 3, 0], 5)  # in order, not merged
        gradient = gradient.to_dense()
    np.testing.assert_allclose(gradient, 2 * table * np.array([1, 1, 0, 2, 0])[:, None], rtol=1e-6)


def test_an_id_outside_the_table():
    out = pm.layers.embedding(pm.layers.data("ids", [-1, 2], dtype="int64"), [5, 4])
    with pytest.raises(pm.OpError, match="test_embedding.py:") as caught:
        run(out, ids=IDS + 2)
    assert "5" in str(caught.value)


@pytest.mark.parametrize(
    "size, options, words",
    [
        (10, {}, "size is 10, it must be"),
        ([0, 3], {}, "rows of size is 0"),
        ([5, 2.5], {}, "width of size is 2.5"),
        ([5, 4], {"padding_idx": "1"}, "padding_idx is '1'"),
    ],
)
def test_refusals(size, options, words):
    with pytest.raises(pm.ProgramError, match="embedding: " + words):
        pm.layers.embedding(pm.layers.data("ids", [-1, 2], dtype="int64"), size, **options)
