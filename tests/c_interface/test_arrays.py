"""The C interface: arrays of feeds, fetches and scopes."""

import ctypes

import numpy as np
import pytest

import paddle_mini as pm
from c_calls import (
    ARGUMENT,
    OPERATOR,
    RESOURCE,
    SELECTED_ROWS,
    SHAPE,
    TENSOR_ARRAY,
    C,
    Failed,
    Tensor,
    array_of,
    arrays_of,
    done,
    got,
    integers,
    names,
    program_of,
    refused,
    scope_with,
    tensor,
    tensors,
)
from small_model import SmallModel, assert_same_bits, batch

DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


@pytest.mark.parametrize("shape", [(), (0,), (4, 0, 3), (1,), (2, 3, 4)], ids=str)
def test_arrays_go_in_and_out(handles, shape):
    arrays = [np.asarray(np.random.RandomState(0).randint(0, 2, shape).astype(dtype)) for dtype in DTYPES]
    program = pm.Program()
    for dtype, array in zip(DTYPES, arrays):
        program.global_block().create_var(dtype, shape=array.shape, dtype=dtype, need_check_feed=True)
    signature = handles.signature_create(program_of(handles, program), names(*DTYPES), 9, names(*DTYPES), 9)
    values = handles.values_create()
    call = (handles.executor_create(None), signature, handles.scope_create(), tensors(arrays), 9, values)
    for _ in range(2):  # the second time in the same memory
        done(C.pm_run(*call))
        assert_same_bits(dict(zip(DTYPES, arrays_of(values))), dict(zip(DTYPES, arrays)))


def scaled(handles, shape=(-1, 3), dtype="float32"):
    """A call of 2 x: feeds are its argument, fetched values its result."""
    with pm.program_guard(pm.Program(), pm.Program()):
        y = pm.layers.scale(pm.layers.data("x", list(shape), dtype=dtype), scale=2.0)
        signature = handles.signature_create(program_of(handles, pm.default_main_program()), names("x"), 1, names(y.name), 1)
    executor, scope, values = handles.executor_create(None), handles.scope_create(), handles.values_create()

    def call(feed):
        done(C.pm_run(executor, signature, scope, tensors([feed]), 1, values))
        return arrays_of(values)[0]

    return call


def test_strided_and_unaligned_feeds(handles):
    call, grid = scaled(handles), np.arange(24, dtype="float32").reshape(4, 6)
    for view in (grid[:, ::2], grid[::2, 3:], grid.T[:, :3], np.broadcast_to(grid[0, :3], (5, 3))):
        np.testing.assert_array_equal(call(view), 2 * view)
    shifted = np.frombuffer(b"\0" + grid[:, :3].tobytes(), "uint8")[1:]
    feed = tensor(np.zeros((4, 3), "float32"))
    feed.data = shifted.ctypes.data
    assert feed.data % 4
    np.testing.assert_array_equal(call(feed), 2 * grid[:, :3])


@pytest.mark.parametrize(
    "change, status, words",
    [
        ({"dtype": 99}, SHAPE, "99"),
        ({"dtype": -1}, SHAPE, "-1"),
        ({"dtype": 6}, SHAPE, "bytes"),
        ({"rank": -1}, SHAPE, "-1"),
        ({"rank": 10}, SHAPE, "10 dimensions"),
        ({"rank": 2**31 - 1}, SHAPE, "dimensions"),
        ({"bytes": 23}, SHAPE, "23 bytes"),
        ({"bytes": 2**64 - 1}, SHAPE, "bytes"),
        ({"data": None}, ARGUMENT, "NULL"),
        ({"shape": [2**62, 3]}, SHAPE, "too many elements"),
        ({"shape": [-1, 3]}, SHAPE, "dimension 0 is -1"),
        ({"shape": [3, 2]}, SHAPE, "'x'"),
        ({"strides": [-3, 1]}, SHAPE, "stride 0 is -3"),
        ({"strides": [2**62, 1]}, SHAPE, "no memory has"),
        ({"strides": [4, 1]}, SHAPE, "needs 28"),
        ({"shape": [2**45, 3], "strides": [0, 1]}, RESOURCE, "out of memory"),
        ({"lod": [[0, 1]]}, SHAPE, "level 0 of lod"),
        ({"lod": [[]]}, SHAPE, "level 0 of lod"),
        ({"lod": [[0, 2]] * 9}, SHAPE, "9 levels"),
        ({"lod_levels": 1}, ARGUMENT, "NULL"),
        ({"height": 4}, SHAPE, "selected rows"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else None,
)
def test_feeds_that_are_refused(handles, change, status, words):
    call, array = scaled(handles), np.ones((2, 3), "float32")
    feed = tensor(array, lod=change.pop("lod", None))
    for field, value in change.items():
        if field == "shape":
            feed.shape[:2] = value
        else:
            setattr(feed, field, integers(value) if field == "strides" else value)
    with pytest.raises(Failed, match=words) as failure:
        call(feed)
    assert failure.value.status == status
    assert "'x'" in str(failure.value)
    np.testing.assert_array_equal(call(array), 2 * array)


def test_sequences(handles):
    with pm.program_guard(pm.Program(), pm.Program()):
        x = pm.layers.data("x", [-1, 2], lod_level=1)
        sums = pm.layers.sequence_pool(x, "sum")
        signature = handles.signature_create(
            program_of(handles, pm.default_main_program()), names("x"), 1, names(sums.name, "x"), 2
        )
    values, array = handles.values_create(), np.arange(10, dtype="float32").reshape(5, 2)
    feed = tensor(array, lod=[[0, 2, 5]])
    done(C.pm_run(handles.executor_create(None), signature, handles.scope_create(), tensors([feed]), 1, values))
    np.testing.assert_array_equal(arrays_of(values)[0], [array[:2].sum(0), array[2:].sum(0)])
    found = got(values, 1)
    assert found.lod_levels == 1 and found.lod[0].offsets[: found.lod[0].count] == [0, 2, 5]


def test_bools_are_0_or_1(handles):
    wrong = tensor(np.array([0, 255, 1], "uint8").view("bool"))
    refused(OPERATOR, C.pm_scope_set, handles.scope_create(), b"mask", ctypes.byref(wrong))


def test_selected_rows_and_arrays_of_tensors(handles):
    scope, values = handles.scope_create(), handles.values_create()
    rows = tensor(np.ones((2, 3), "float32"), rows=[4, 1], height=6)
    done(C.pm_scope_set(scope, b"rows", ctypes.byref(rows)))
    done(C.pm_scope_get(scope, names("rows"), 1, values))
    kind, elements = ctypes.c_int32(), ctypes.c_size_t()
    done(C.pm_values_kind(values, 0, ctypes.byref(kind), ctypes.byref(elements)))
    found = got(values)
    assert (kind.value, elements.value) == (SELECTED_ROWS, 1)
    assert (found.rows[: found.row_count], found.height, array_of(found).tolist()) == ([4, 1], 6, [[1] * 3] * 2)
    for wrong in ([6, 1], [-1, 1]):
        bad = tensor(np.ones((2, 3), "float32"), rows=wrong, height=6)
        refused(OPERATOR, C.pm_scope_set, scope, b"rows", ctypes.byref(bad))
    refused(SHAPE, C.pm_scope_set, scope, b"rows", ctypes.byref(tensor(np.ones((3, 3)), rows=[4, 1], height=6)))
    with pm.program_guard(pm.Program(), pm.Program()):
        x, i = pm.layers.data("x", [2]), pm.layers.fill_constant([1], "int64", 1)
        array = pm.layers.array_write(x, i)
        signature = handles.signature_create(program_of(handles, pm.default_main_program()), names("x"), 1, names(array.name), 1)
    feed = tensors([np.array([3, 4], "float32")])
    done(C.pm_run(handles.executor_create(None), signature, scope, feed, 1, values))
    done(C.pm_values_kind(values, 0, ctypes.byref(kind), ctypes.byref(elements)))
    assert (kind.value, elements.value) == (TENSOR_ARRAY, 2)
    assert array_of(got(values, 0, 0)) is None and array_of(got(values, 0, 1)).tolist() == [3, 4]
    refused(ARGUMENT, C.pm_values_get, values, 0, 2, ctypes.byref(Tensor()))


def test_values_of_a_scope_stay_as_they_were(handles):
    """They are in the memory of the scope; a run that changes the variable leaves that memory to them."""
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    scope = scope_with(handles, model.everything())
    first, second = handles.values_create(), handles.values_create()
    name = model.parameters[0]
    for values in (first, second):
        done(C.pm_scope_get(scope, names(name), 1, values))
    assert got(first).data == got(second).data
    signature = handles.signature_create(program_of(handles, model.main), names("x", "label"), 2, None, 0)
    before = array_of(got(first))
    feed = tensors(list(batch(0).values()))
    done(C.pm_run(handles.executor_create(None), signature, scope, feed, 2, 0))
    done(C.pm_scope_get(scope, names(name), 1, second))
    assert array_of(got(first)).tobytes() == before.tobytes() != array_of(got(second)).tobytes()
    refused(OPERATOR, C.pm_scope_get, scope, names("nothing"), 1, first)
    assert arrays_of(first) == []
