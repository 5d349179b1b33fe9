"""tensor_array_to_tensor: the elements of an array, concatenated or stacked."""

import numpy as np
import pytest

import paddle_mini as pm
from families.programs import one, run

L = pm.layers


def joined(axis, use_stack, part=0):
    def build(a, b):
        array = L.array_write(a, L.fill_constant([1], "int64", 0))
        L.array_write(b, L.fill_constant([1], "int64", 1), array)
        return L.tensor_array_to_tensor(array, axis, use_stack)[part]

    return build


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_joined_along_each_axis(axis, dtype):
    a = np.arange(24).reshape(2, 3, 4).astype(dtype)
    b = np.concatenate([a, a], axis)
    np.testing.assert_array_equal(run(joined(axis, False), a=a, b=b), np.concatenate([a, b], axis))
    index = run(joined(axis, False, 1), a=a, b=b)
    assert index.dtype == np.int32
    np.testing.assert_array_equal(index, [a.shape[axis], b.shape[axis]])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_stacked(axis):
    a = np.arange(6, dtype="float32").reshape(2, 3)
    np.testing.assert_array_equal(run(joined(axis, True), a=a, b=a + 1), np.stack([a, a + 1], axis))


@pytest.mark.parametrize(
    "shapes, axis, words", [(((2, 3), (2, 4)), 0, "element 1"), (((2, 3), (2, 3)), 2, "axis"), (((2,), (2, 3)), 0, "element 1")]
)
def test_refused(shapes, axis, words):
    a, b = (np.zeros(shape, "float32") for shape in shapes)
    with pytest.raises(pm.Error, match=words):
        run(joined(axis, False), a=a, b=b)


def test_no_elements_and_missing_elements_are_refused():
    with pytest.raises(pm.OpError, match="no elements|no value"):
        run(lambda: L.tensor_array_to_tensor(L.create_array())[0])
    with pytest.raises(pm.OpError, match="element 0 of X has no value"):
        run(lambda x, i: L.tensor_array_to_tensor(L.array_write(x, i))[0], x=np.ones(2, "float32"), i=one(1))
