"""Arrays in one buffer, of its own or in given memory: what is divided into shares and put together is the same; means."""

import numpy as np
import pytest

from paddle_mini.cluster.errors import Malformed
from paddle_mini.cluster.trainers.flat_buffer import FlatBuffer, bytes_of
from paddle_mini.cluster.wire import check_arrays
from small_model import assert_same_bits

FIELDS = {
    "w": (np.dtype("float32"), (3, 5)),
    "half": (np.dtype("uint16"), (5,)),
    "v": (np.dtype("float32"), ()),
    "d": (np.dtype("float64"), (2, 2)),
    "flag": (np.dtype("bool"), (1,)),
    "none": (np.dtype("int64"), (0, 4)),
}


@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_what_is_cut_and_put_together_is_the_same(count):
    random = np.random.RandomState(count)
    values = {name: random.randint(0, 2, shape).astype(dtype) for name, (dtype, shape) in FIELDS.items()}
    memory = memoryview(bytearray(bytes_of(FIELDS)))
    one, other = FlatBuffer(FIELDS, memory), FlatBuffer(FIELDS)
    assert sum(view.nbytes for view in one.views.values()) <= len(memory)
    for name, value in values.items():
        one.views[name][...] = value
    parts = [check_arrays(one.share(index, count)) for index in range(count)]
    for index, arrays in enumerate(parts):
        other.set_share(index, count, arrays)
    assert_same_bits(other.views, values)
    assert_same_bits(FlatBuffer(FIELDS, memory).views, values)
    assert max(map(_bytes, parts)) - min(map(_bytes, parts)) <= 8 * len(parts[0])


def _bytes(arrays):
    return sum(array.nbytes for array in arrays)


def test_a_part_of_another_size_is_refused():
    flat = FlatBuffer(FIELDS)
    parts = flat.share(0, 2)
    for wrong in (parts[:-1], [*parts[:-1], parts[-1][:-1]], [array.astype("int64") for array in parts]):
        with pytest.raises(Malformed, match="share 0 of 2 has other sizes here"):
            flat.set_share(0, 2, wrong)
        with pytest.raises(Malformed, match="share 0 of 2 has other sizes here"):
            flat.set_mean(0, 2, [parts, wrong])


@pytest.mark.parametrize("size", [1, 2, 70_001])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_mean_is_the_sum_in_order_divided_by_the_number(size, count):
    """In another order it would have other bits."""
    fields = {"w": (np.dtype("float32"), (size,)), "d": (np.dtype("float64"), (3,))}
    random, buffers = np.random.RandomState(count), [FlatBuffer(fields) for _ in range(count)]
    for one in buffers:
        for view in one.views.values():
            view[...] = random.standard_normal(view.shape) * 10.0 ** random.randint(-4, 5, view.shape)
    mean = FlatBuffer(fields)
    for share in range(2):
        mean.set_mean(share, 2, [one.share(share, 2) for one in buffers])
    for name, found in mean.views.items():
        total = buffers[0].views[name].copy()
        for one in buffers[1:]:
            total += one.views[name]
        assert found.tobytes() == (total / found.dtype.type(count)).tobytes()
