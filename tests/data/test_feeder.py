# DataFeeder: rows of samples as feeds; readers.
import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.data import DataFeeder, batch, shuffle


def test_a_batch_of_rows():
    image = pm.layers.data("image", [-1, 1, 2, 2])
    pm.layers.data("label", [-1, 1], dtype="int64")
    words = pm.layers.data("words", [-1, 1], dtype="int64", lod_level=1)
    rows = [([1, 2, 3, 4], 7, [5, 6]), (np.zeros((2, 2)), 8, []), ([0] * 4, 9, [1])]
    feed = DataFeeder([image, "label", words]).feed(rows)
    assert feed["image"].shape == (3, 1, 2, 2) and feed["image"].dtype == np.float32
    assert feed["label"].tolist() == [[7], [8], [9]] and feed["label"].dtype == np.int64
    assert feed["words"].array.tolist() == [[5], [6], [1]] and feed["words"].lod == [[0, 2, 2, 3]]


def test_sequences_of_sequences():
    words = pm.layers.data("words", [-1], dtype="int64", lod_level=2)
    feed = DataFeeder([words]).feed([([[1, 2], [3]],), ([[4, 5, 6]],)])
    assert feed["words"].lod == [[0, 2, 3], [0, 2, 3, 6]] and feed["words"].array.tolist() == [1, 2, 3, 4, 5, 6]


def test_what_is_fed_is_run():
    x = pm.layers.data("x", [-1, 3])
    (value,) = pm.Executor(pm.CPUPlace()).run(
        feed=DataFeeder([x]).feed([([1, 2, 3],), ([4, 5, 6],)]), fetch_list=[pm.layers.scale(x, scale=2.0)]
    )
    assert value.tolist() == [[2, 4, 6], [8, 10, 12]]


def test_dimensions_that_are_not_known():
    x = pm.layers.data("x", [-1, -1, 2])
    assert DataFeeder([x]).feed([(np.zeros((5, 2)),), (np.ones((5, 2)),)])["x"].shape == (2, 5, 2)
    with pytest.raises(pm.ShapeError, match=r"values of 'x' make \[1, 5, 3\]"):
        DataFeeder([x]).feed([(np.zeros((5, 3)),)])


@pytest.mark.parametrize(
    "rows, message",
    [
        ([], "the batch has no rows"),
        ([(1,)], "row 0 is 1 values, it must be a tuple of 2, or a dict: x, words"),
        ([{"x": (1, 2), "w": [1]}], "row 0 has the keys x, w, it must be a tuple of 2, or a dict: x, words"),
        ([{}], "row 0 is empty"),
        ([((1, 2), [1]), 3], "row 1 is a int"),
        ([((1, 2, 3), [1])], "values of 'x' don't make an array of 1 × \\[2\\]"),
        ([((1, 2), [1]), ((1,), [1])], "values of 'x' don't make an array"),
        ([(("a", "b"), [1])], "values of 'x' are <U1, the program wants float32"),
        ([((1, 2), 1)], "'words' has lod_level 1, a value of it must be a sequence, not 1"),
        ([((1, 2), [1.5])], "values of 'words' are float64, the program wants int64"),
    ],
)
def test_rows_that_do_not_fit(rows, message):
    feeder = DataFeeder([pm.layers.data("x", [-1, 2]), pm.layers.data("words", [-1], dtype="int64", lod_level=1)])
    with pytest.raises(pm.ShapeError, match=message):
        feeder.feed(rows)


@pytest.mark.parametrize(
    "dtype, value", [("int32", 2**32 + 5), ("uint8", -1), ("int64", 2**64 - 1), ("float32", 1e300), ("float16", 70000)]
)
def test_numbers_beyond_the_dtype_are_refused(dtype, value):
    feeder = DataFeeder([pm.layers.data("x", [-1, 1], dtype)])
    with pytest.raises(pm.ShapeError, match=f"values of 'x' are .*, which is beyond {dtype}"):
        feeder.feed([(value,)])
    with pytest.raises(pm.ShapeError, match=f"beyond {dtype}"):
        pm.Executor().run(feed={"x": [[value]]})
    assert feeder.feed([(7,)])["x"].tolist() == [[7]]


def test_numbers_for_bfloat16():
    feeder = DataFeeder([pm.layers.data("x", [-1, 2], "bfloat16")])
    assert feeder.feed([((1, -3.0),), (np.float32([0.5, 2]),)])["x"].tolist() == [[0x3F80, 0xC040], [0x3F00, 0x4000]]
    with pytest.raises(pm.ShapeError, match="values of 'x' are float64, which is beyond bfloat16"):
        feeder.feed([((1, 1e39),)])


def test_tensors_that_are_no_arrays():
    class NeedsGradient:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("use detach()")

    feeder = DataFeeder([pm.layers.data("x", [-1], "float32")])
    with pytest.raises(pm.ShapeError, match=r"values of 'x' don't make an array of 1 × \[\]: use detach"):
        feeder.feed([(NeedsGradient(),)])
    with pytest.raises(pm.ShapeError, match="feed 'x' is .*, which is not an array of float32: use detach"):
        pm.Executor().run(feed={"x": [NeedsGradient()]})


def test_lists_that_are_no_lists_of_variables():
    with pytest.raises(pm.ProgramError, match="must be a list of at least one Variable"):
        DataFeeder([])
    with pytest.raises(pm.ProgramError, match="holds 3, which is neither"):
        DataFeeder([3])


def test_batches():
    assert list(batch(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(batch(range(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    with pytest.raises(pm.ProgramError, match="batch_size is 0"):
        batch(range(5), 0)


def test_shuffle_keeps_every_sample():
    once = list(shuffle(range(100), 100, seed=3))
    assert sorted(once) == list(range(100)) and once != list(range(100))
    assert once == list(shuffle(range(100), 100, seed=3)) != list(shuffle(range(100), 100, seed=4))
    near = list(shuffle(range(100), 10, seed=3))
    assert all(i // 10 == value // 10 for i, value in enumerate(near))
    with pytest.raises(pm.ProgramError, match="buffer_size is True"):
        shuffle(range(5), True, seed=0)
