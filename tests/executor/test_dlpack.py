"""Arrays of other libraries as feeds and as values of a scope: shared by DLPack, without a copy."""

import gc

import numpy as np
import pytest

import paddle_mini as pm
from dlpack_producer import BFLOAT, CUDA, PINNED, Producer, WithArray
from paddle_mini._core import as_array
from programs import run

L = pm.layers
FLOATS = np.arange(12, dtype="float32").reshape(3, 4)


def doubled(value, dtype="float32", shape=(3, 4)):
    x = L.data("x", list(shape), dtype=dtype)
    return run(L.scale(x, scale=2.0), x=value)


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool"])
def test_memory_is_shared(dtype, versioned):
    array = np.array([[0, 1, 1], [1, 0, 1]], dtype)
    producer = Producer(array, versioned)
    shared = as_array(producer, "x")
    assert shared.dtype == array.dtype and shared.tolist() == array.tolist()
    assert np.shares_memory(shared, array)
    array[0, 0] = 1
    assert shared[0, 0] == 1


@pytest.mark.parametrize("versioned", [True, False])
def test_memory_is_released_once(versioned):
    producer = Producer(FLOATS, versioned)
    shared = as_array(producer, "x")
    part = shared[1:]
    del shared
    gc.collect()
    assert producer.released == 0 and part.tolist() == FLOATS[1:].tolist()
    del part
    assert producer.released == 1


def test_strides_and_offset():
    for array in (FLOATS.T, FLOATS[:, ::2], FLOATS[::-1], FLOATS[1:]):
        shared = as_array(Producer(array, offset=2), "x")
        assert shared.strides == array.strides and shared.tolist() == array.tolist()
        assert np.shares_memory(shared, array)


def test_empty_and_zero_dimensional():
    for array in (np.zeros((0, 3), "float32"), np.array(5.0, "float32")):
        for versioned in (True, False):
            shared = as_array(Producer(array, versioned), "x")
            assert shared.shape == array.shape and shared.tolist() == array.tolist()


def test_only_memory_that_may_be_written_is_writable():
    assert as_array(Producer(FLOATS.copy()), "x").flags.writeable
    assert not as_array(Producer(FLOATS, read_only=True), "x").flags.writeable
    assert not as_array(Producer(FLOATS, versioned=False), "x").flags.writeable


def test_feeds():
    for value in (Producer(FLOATS), Producer(FLOATS.T.copy().T), Producer(FLOATS, device=(PINNED, 0)), WithArray(FLOATS)):
        (y,) = doubled(value)
        assert y.tolist() == (2 * FLOATS).tolist()
        assert value.exports == value.released == 1


def test_unaligned_feed():
    bytes_ = np.zeros(49, "uint8")
    unaligned = bytes_[1:].view("float32")
    unaligned[:] = FLOATS.ravel()
    (y,) = doubled(Producer(unaligned.reshape(3, 4)))
    assert y.tolist() == (2 * FLOATS).tolist()


def test_bfloat16():
    bits = np.array([0x3F80, 0x4000, 0xC040], "uint16")  # 1, 2, -3
    feeds = [bits, Producer(bits, code=BFLOAT)]
    ml_dtypes = pytest.importorskip("ml_dtypes")
    feeds.append(np.array([1, 2, -3], ml_dtypes.bfloat16))
    for feed in feeds:
        (y,) = doubled(feed, "bfloat16", (3,))
        assert y.tolist() == [0x4000, 0x4080, 0xC0C0]
        scope = pm.Scope()
        scope.set("b", feed)
        assert scope.info("b")["dtype"] == "bfloat16" and scope.get("b").tolist() == bits.tolist()


def test_numbers_for_bfloat16_are_rounded():
    for numbers in ([1, 2, -3], [1.0, 2.0, -3.0], (True, 2, np.float64(-3))):
        (y,) = doubled(numbers, "bfloat16", (3,))
        assert y.tolist() == [0x4000, 0x4080, 0xC0C0]
    for wrong, text in (([1e39, 0, 0], "beyond bfloat16"), ([1j, 0, 0], "wants bfloat16"), (["a", "b", "c"], "wants bfloat16")):
        with pytest.raises(pm.ShapeError, match=text):
            doubled(wrong, "bfloat16", (3,))
    with pytest.raises(pm.ShapeError, match="array of float32, the program wants bfloat16; NumPy lacks it"):
        doubled(np.ones(3, "float32"), "bfloat16", (3,))


def test_the_nearest_bfloat16_is_fed():
    # 1 + 2^-8 lies between two of them and goes to the even one; 2^-40 more is above the middle.
    values = [1 + 2**-8, 1 + 2**-8 + 2**-40, 3.3895313892515355e38, np.inf, np.nan]
    (found,) = run(L.assign(L.data("wide", [5], "bfloat16")), wide=values)
    assert found.tolist() == [0x3F80, 0x3F81, 0x7F7F, 0x7F80, 0x7FC0]


def test_an_array_without_astype_gets_other_advice():
    value = Producer(np.array([0x3F80], "uint16"), code=BFLOAT)
    with pytest.raises(pm.ShapeError, match="is an array of bfloat16, the program wants float32; convert it to float32 first"):
        doubled(value, "float32", (1,))


@pytest.mark.parametrize("in_batches", [False, True])
@pytest.mark.parametrize(
    "values", [np.array([[1, 2]]), np.array([[1.0, 2.0]], "float32"), np.array([[0x3F80, 0x4000]], "uint16")]
)
def test_data_of_fit_for_a_bfloat16_variable(values, in_batches):
    x = L.data("x", [-1, 2], "bfloat16")
    one = pm.ParamAttr(initializer=pm.initializer.Constant(1.0))
    loss = L.mean(L.fc(L.cast(x, "float32"), 1, bias_attr=False, param_attr=one))
    narrow = L.cast(loss, "bfloat16")
    data = [{"x": values}] if in_batches else {"x": values}
    history = pm.fit(loss, data, pm.optimizer.SGD(0.1), metrics={"narrow": narrow}, progress=False)
    assert history.last == {"epoch": 1, "step": 1, "loss": 3.0, "narrow": 3.0}


def test_bfloat16_among_the_data_of_fit_are_numbers():
    values = np.array([[1, 2, -3, 0.5]], "float32")
    halves = Producer((values.view("uint32") >> 16).astype("uint16"), code=BFLOAT)
    assert as_array(halves, "x", bits=False).tolist() == values.tolist()
    assert as_array(Producer(np.array(0x4000, "uint16"), code=BFLOAT), "x", bits=False) == 2
    loader = pm.data.Loader([{"x": halves}]).batch(1)
    assert next(iter(loader))["x"].tolist() == [values.tolist()]
    x = L.data("x", [-1, 4])
    loss = L.mean(L.fc(x, 1, bias_attr=False, param_attr=pm.ParamAttr(initializer=pm.initializer.Constant(1.0))))
    history = pm.fit(loss, [{"x": halves}], pm.optimizer.SGD(0.1), epochs=1)
    assert history["loss"] == [0.5]


def test_a_type_that_numpy_lacks_is_read_by_array():
    scope = pm.Scope()
    packed = WithArray(np.ones(4, "float32"), lanes=4)
    scope.set("a", packed)
    refuses = WithArray(np.ones(4, "float32"), error=BufferError("booleans are bits"))
    scope.set("b", refuses)
    assert scope.get("a").tolist() == scope.get("b").tolist() == [1, 1, 1, 1]


def test_tensors_of_a_device_are_refused():
    x = L.data("x", [3, 4])
    y = L.scale(x)
    for value in (Producer(FLOATS, device=(CUDA, 1)), WithArray(FLOATS, device=(CUDA, 1))):
        with pytest.raises(pm.ShapeError) as raised:
            run(y, x=value)
        assert "feed 'x' is of type" in str(raised.value) and "copy it to the host first" in str(raised.value)
        assert "DLPack type 2, number 1" in str(raised.value)
        assert value.exports == 0
    with pytest.raises(pm.ShapeError, match="'w' is of type Producer in the memory of a device"):
        pm.Scope().set("w", Producer(FLOATS, device=(CUDA, 0)))


def test_refusals_name_the_feed_and_give_the_reason():
    gradient = BufferError("can't export tensors that need a gradient: use detach()")
    with pytest.raises(pm.ShapeError, match="feed 'x' is of type Producer, .*: use detach"):
        doubled(Producer(FLOATS, error=gradient))
    with pytest.raises(pm.ShapeError, match="'w' is of type Producer, .*: use detach"):
        pm.Scope().set("w", Producer(FLOATS, error=gradient))


def test_another_element_type_is_refused():
    for value in (Producer(FLOATS.astype("float64")), Producer(FLOATS.astype("float16").view("uint16"), code=BFLOAT)):
        with pytest.raises(pm.ShapeError, match="feed 'x' is an array of .*, the program wants float32"):
            doubled(value)


def test_ctrl_c_is_not_taken_for_a_refusal():
    with pytest.raises(KeyboardInterrupt):
        as_array(WithArray(FLOATS, error=KeyboardInterrupt()), "x")


def test_scope_set_copies():
    array, scope = FLOATS.copy(), pm.Scope()
    producer = Producer(array)
    scope.set("w", producer)
    array[:] = 0
    assert scope.get("w").tolist() == FLOATS.tolist() and producer.released == 1


def test_sequences():
    lod = [[0, 1, 3]]
    tensor = pm.LoDTensor(Producer(FLOATS), lod)
    assert np.shares_memory(tensor.array, FLOATS)
    assert np.shares_memory(np.asarray(tensor), FLOATS) and np.shares_memory(as_array(tensor, "x"), FLOATS)
    assert np.asarray(tensor, "float64").dtype == "float64" and not np.shares_memory(np.array(tensor), FLOATS)
    with pytest.raises(ValueError, match="without a copy"):
        tensor.__array__("float64", copy=False)
    assert tensor.__dlpack_device__() == (1, 0)
    scope = pm.Scope()
    scope.set("s", tensor)
    assert scope.lod("s") == lod and scope.get("s").tolist() == FLOATS.tolist()
    scope.set("s", tensor, [[0, 3]])
    assert scope.lod("s") == [[0, 3]]
    with pytest.raises(pm.ShapeError, match="a LoDTensor is a batch"):
        pm.data.Loader({"x": tensor})


def test_batches_of_fit():
    x, y = L.data("x", [-1, 4]), L.data("y", [-1, 1])
    loss = L.mean(L.square_error_cost(L.fc(x, 1), y))
    batches = [{"x": Producer(FLOATS), "y": Producer(np.ones((3, 1), "float32"), versioned=False)}]
    history = pm.fit(loss, batches, pm.optimizer.SGD(0.001), epochs=2)
    assert history["loss"][1] < history["loss"][0]
    with pytest.raises(pm.ShapeError, match="batch 0: 'x' is of type Producer in the memory of a device"):
        pm.fit(loss, [{"x": Producer(FLOATS, device=(CUDA, 0)), "y": np.ones((3, 1), "float32")}], epochs=1)


class Strange:
    """An object with DLPack's methods whose results are not as they must be."""

    def __init__(self, device, capsule):
        self._device, self._capsule = device, capsule

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, **options):
        return self._capsule


@pytest.mark.parametrize("device", ["cpu", (1, "a"), (1, 0)])
def test_results_that_are_not_dlpacks_are_refused(device):
    y = L.relu(L.data("x", [-1, 2]))
    with pytest.raises(pm.ShapeError, match="feed 'x' is of type Strange, whose __dlpack__ or __dlpack_device__ does not"):
        pm.Executor().run(feed={"x": Strange(device, 3)}, fetch_list=[y])
    with pytest.raises(pm.ShapeError, match="LoDTensor: the array is of type Strange"):
        pm.LoDTensor(Strange(device, 3))
