"""The C interface: results and errors of its functions, beside those of Python."""

import ctypes

import numpy as np
import pytest

import paddle_mini as pm
from c_calls import (
    ARGUMENT,
    IN_USE,
    OPERATOR,
    PROGRAM,
    SELECTED_ROWS,
    SHAPE,
    STOP,
    STOPPED,
    TENSOR_ARRAY,
    C,
    Failed,
    Handles,
    Tensor,
    array_of,
    arrays_of,
    done,
    got,
    integers,
    names,
    options,
    out,
    tensor,
    tensors,
    texts_of,
)
from paddle_mini.averaging import Exponential, Window
from small_model import SmallModel, assert_same_bits, batch


@pytest.fixture
def handles():
    with Handles() as made:
        yield made


def refused(status, call, *arguments):
    with pytest.raises(Failed) as failure:
        done(call(*arguments))
    assert failure.value.status == status, failure.value
    assert failure.value.message and len(failure.value.message.splitlines()) <= 12
    return failure.value.message


def program_of(handles, program):
    data = program.to_bytes()
    return handles.program_load(data, len(data))


def everything(handles, scope):
    values = handles.values_create()
    done(C.pm_scope_names(scope, values))
    found = texts_of(values)
    done(C.pm_scope_get(scope, names(*found), len(found), values))
    return dict(zip(found, arrays_of(values)))


def scope_with(handles, values):
    scope = handles.scope_create()
    for name, value in values.items():
        done(C.pm_scope_set(scope, name.encode(), ctypes.byref(tensor(value))))
    return scope


@pytest.mark.parametrize("scheme", [None, Window(3), Exponential(0.8)], ids=repr)
def test_training_gives_pythons_bits(handles, scheme):
    """Averages are applied and restored by programs."""
    wrap = (lambda inner: inner) if scheme is None else (lambda inner: pm.optimizer.ParameterAverage(inner, scheme))
    made = []
    model = SmallModel(lambda loss: made.append(wrap(pm.optimizer.Adam(0.05))) or made[0].minimize(loss))
    scope = scope_with(handles, model.everything())
    main, executor, values = program_of(handles, model.main), handles.executor_create(None), handles.values_create()
    signature = handles.signature_create(main, names("x", "label"), 2, names(model.loss.name), 1)
    C.pm_release(main)  # the signature keeps the program
    for number in range(7):
        loss, feed = model.step(number), batch(number)
        done(C.pm_run(executor, signature, scope, tensors([feed["x"], feed["label"]]), 2, values))
        assert array_of(got(values)).tobytes() == loss.tobytes()
    assert_same_bits(everything(handles, scope), model.everything())
    if scheme is None:
        return
    raw = everything(handles, scope)
    apply, restore = (
        handles.signature_create(program_of(handles, program), None, 0, None, 0)
        for program in (made[0].apply_program(keep_raw=True), made[0].restore_program())
    )
    done(C.pm_run(executor, apply, scope, None, 0, 0))
    applied = everything(handles, scope)
    with made[0].apply(model.exe, scope=model.scope):
        assert_same_bits({name: applied[name] for name in model.parameters}, model.values())
    done(C.pm_run(executor, restore, scope, None, 0, 0))
    assert_same_bits({name: everything(handles, scope)[name] for name in model.parameters}, {n: raw[n] for n in model.parameters})


def test_random_numbers_are_those_of_the_seed(handles):
    with pm.program_guard(pm.Program(), pm.Program()):
        y = pm.layers.gaussian_random([3, 4])
        main = pm.default_main_program()
    pm.seed(5)
    exe = pm.Executor()
    expected = [exe.run(main, fetch_list=[y])[0].tobytes() for _ in range(3)]
    executor = handles.executor_create(ctypes.byref(options(has_seed=1, seed=5)))
    scope, values, state = handles.scope_create(), handles.values_create(), handles.values_create()
    signature = handles.signature_create(program_of(handles, main), None, 0, names(y.name), 1)

    def run():
        done(C.pm_run(executor, signature, scope, None, 0, values))
        return array_of(got(values)).tobytes()

    assert run() == expected[0]
    done(C.pm_executor_random_state(executor, state))
    assert [run(), run()] == expected[1:]
    (text,) = texts_of(state)
    done(C.pm_executor_set_random_state(executor, text.encode()))
    assert [run(), run()] == expected[1:]
    refused(OPERATOR, C.pm_executor_set_random_state, executor, b"not a state")


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


def test_files_of_parameters(handles, tmp_path):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    pm.io.save_program(tmp_path / "train", model.main, model.scope)
    pm.io.save_persistables(None, tmp_path / "folder", model.main, None, model.scope)
    program = handles.program_load_file(str(tmp_path / "train.pdmodel").encode())
    data = (tmp_path / "train.pdiparams").read_bytes()
    scopes = [handles.scope_create() for _ in range(3)]
    done(C.pm_scope_load(scopes[0], program, str(tmp_path / "train.pdiparams").encode(), 0))
    done(C.pm_scope_load(scopes[1], program, str(tmp_path / "folder").encode(), 0))
    done(C.pm_scope_load_bytes(scopes[2], program, data, len(data), 0))
    for scope in scopes:
        assert_same_bits(everything(handles, scope), model.everything())
    done(C.pm_scope_save(scopes[0], program, str(tmp_path / "again.pdiparams").encode()))
    assert (tmp_path / "again.pdiparams").read_bytes() == data


def test_files_that_are_refused_change_nothing(handles, tmp_path):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    pm.io.save_program(tmp_path / "train", model.main, model.scope)
    path, whole = tmp_path / "train.pdiparams", (tmp_path / "train.pdiparams").read_bytes()
    program, scope = handles.program_load_file(str(tmp_path / "train.pdmodel").encode()), handles.scope_create()
    other = program_of(handles, SmallModel(lambda loss: None, dtype="float64").main)
    changed = bytes([*whole[:-1], whole[-1] ^ 1])
    for data in (b"", whole[:3], whole[:40], whole[:-1], whole + b"\0", changed):
        path.write_bytes(data)
        refused(PROGRAM, C.pm_scope_load, scope, program, str(path).encode(), 0)
        refused(PROGRAM, C.pm_scope_load_bytes, scope, program, data, len(data), 0)
        assert everything(handles, scope) == {}
    done(C.pm_scope_load(scope, program, str(path).encode(), 0 + (data == changed)))  # unchecked
    before = everything(handles, scope)
    path.write_bytes(whole)
    refused(SHAPE, C.pm_scope_load, scope, other, str(path).encode(), 0)
    refused(PROGRAM, C.pm_scope_load, scope, program, str(tmp_path / "no").encode(), 0)
    refused(PROGRAM, C.pm_scope_load, scope, program, b"/dev/zero", 0)
    refused(PROGRAM, C.pm_scope_save, scope, program, str(tmp_path / "no/file").encode())
    refused(OPERATOR, C.pm_scope_save, handles.scope_create(), program, str(path).encode())
    assert_same_bits(everything(handles, scope), before)
    assert path.read_bytes() == whole


def test_programs_that_are_refused(handles):
    whole, handle = SmallModel().main.to_bytes(), ctypes.c_uint64(77)
    for data in (b"", whole[:-4], b"\xff" * 40, whole[: len(whole) // 2]):
        refused(PROGRAM, C.pm_program_load, data, len(data), ctypes.byref(handle))
    refused(ARGUMENT, C.pm_program_load, whole, 2**64 - 1, ctypes.byref(handle))
    refused(PROGRAM, C.pm_program_load_file, b"/nothing", ctypes.byref(handle))
    unknown = whole.replace(b"tanh", b"tanz")
    program = handles.program_load(unknown, len(unknown))  # its parameters can be read
    assert "tanz" in refused(PROGRAM, C.pm_signature_create, program, None, 0, None, 0, ctypes.byref(handle))
    assert handle.value == 77


def test_names_of_a_program(handles, tmp_path):
    model = SmallModel()
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], scope=model.scope)
    program = handles.program_load_file(str(tmp_path / "m.pdmodel").encode())

    def all_of(which):
        count = out(C.pm_program_count, program, which, kind=ctypes.c_size_t)
        return [out(C.pm_program_name, program, which, i, kind=ctypes.c_char_p).decode() for i in range(count)]

    assert (all_of(0), all_of(1), all_of(2)) == (["x"], [model.logits.name], sorted(model.parameters))
    declared = out(C.pm_program_variable, program, b"x", kind=Tensor)
    assert (declared.dtype, declared.shape[: declared.rank], declared.data) == (5, [-1, 6], None)
    assert "nothing" in refused(PROGRAM, C.pm_program_variable, program, b"nothing", ctypes.byref(Tensor()))
    refused(ARGUMENT, C.pm_program_name, program, 0, 1, ctypes.byref(ctypes.c_char_p()))
    refused(ARGUMENT, C.pm_program_count, program, 3, ctypes.byref(ctypes.c_size_t()))


def test_the_plan_as_text(handles):
    model = SmallModel()
    signature = handles.signature_create(program_of(handles, model.main), names("x", "label"), 2, names(model.loss.name), 1)
    call = (handles.executor_create(None), signature, scope_with(handles, model.everything()), tensors(list(batch(0).values())))
    text = handles.values_create()
    for stage in ("plan", "infer", "fuse"):
        done(C.pm_plan_text(*call, 2, stage.encode(), text))
        assert texts_of(text) == [model.exe.plan_text(model.main, batch(0), [model.loss], model.scope, stage=stage)]
    refused(PROGRAM, C.pm_plan_text, *call, 2, b"dance", text)


def test_a_run_that_fails_leaves_the_scope(handles):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    scope = scope_with(handles, model.everything())
    signature = handles.signature_create(program_of(handles, model.main), names("x", "label"), 2, None, 0)
    executor, feed = handles.executor_create(None), batch(0)
    wrong = tensors([feed["x"], feed["label"] + 5])
    refused(OPERATOR, C.pm_run, executor, signature, scope, wrong, 2, 0)
    refused(PROGRAM, C.pm_run, executor, signature, scope, wrong, 1, 0)
    refused(ARGUMENT, C.pm_run, executor, signature, scope, None, 2, 0)
    assert_same_bits(everything(handles, scope), model.everything())


def endless():
    with pm.program_guard(pm.Program(), pm.Program()):
        one = pm.layers.fill_constant([1], "float32", 1.0)
        (end,) = pm.layers.while_loop(lambda i: i > 0, lambda i: [i + 1.0], [one])
        return pm.default_main_program(), end.name


def test_loops_are_stopped(handles):
    """By the caller's function, which may use the interface itself, or by the number of steps."""
    program, name = endless()
    signature, scope = handles.signature_create(program_of(handles, program), None, 0, names(name), 1), handles.scope_create()
    polls = []

    @STOP
    def stop(context):
        polls.append((context, C.pm_scope_erase(scope, b"x")))
        return len(polls) == 2

    executor = handles.executor_create(ctypes.byref(options(stop=stop, context=5)))
    refused(STOPPED, C.pm_run, executor, signature, scope, None, 0, 0)
    assert polls == [(5, IN_USE)] * 2
    limited = handles.executor_create(ctypes.byref(options(max_loop_steps=10)))
    assert "10" in refused(OPERATOR, C.pm_run, limited, signature, scope, None, 0, 0)


def test_programs_touch_no_files_unless_they_may(handles, tmp_path):
    program = pm.Program()
    program.global_block().create_var("x", shape=[2], dtype="float32", persistable=True)
    program.global_block().append_op("save", {"X": "x"}, {}, {"file_path": str(tmp_path / "x")})
    scope = scope_with(handles, {"x": np.ones(2, "float32")})
    signature = handles.signature_create(program_of(handles, program), None, 0, None, 0)
    refused(OPERATOR, C.pm_run, handles.executor_create(None), signature, scope, None, 0, 0)
    assert not (tmp_path / "x").exists()
    done(C.pm_run(handles.executor_create(ctypes.byref(options(files=1))), signature, scope, None, 0, 0))
    assert (tmp_path / "x").exists()


def test_a_device(handles):
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    scope, values = scope_with(handles, model.everything()), handles.values_create()
    executor = handles.executor_create(ctypes.byref(options(place=b"emulated:0")))
    signature = handles.signature_create(program_of(handles, model.main), names("x", "label"), 2, names(model.loss.name), 1)
    for number in range(3):
        done(C.pm_run(executor, signature, scope, tensors(list(batch(number).values())), 2, values))
        assert array_of(got(values)).tobytes() == model.step(number).tobytes()
    done(C.pm_scope_wait(scope))
    assert_same_bits(everything(handles, scope), model.everything())
