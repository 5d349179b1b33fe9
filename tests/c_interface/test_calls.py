"""The C interface: programs and runs, beside those of Python."""

import ctypes

import numpy as np
import pytest

import paddle_mini as pm
from c_calls import (
    ARGUMENT,
    IN_USE,
    OPERATOR,
    PROGRAM,
    STOP,
    STOPPED,
    C,
    Tensor,
    array_of,
    done,
    everything,
    got,
    names,
    options,
    out,
    program_of,
    refused,
    scope_with,
    tensors,
    texts_of,
)
from paddle_mini.averaging import Exponential, Window
from small_model import SmallModel, assert_same_bits, batch


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


@pytest.mark.parametrize("size", [2, 1 << 20])
def test_values_of_one_run_are_the_feeds_of_the_next_one(handles, size):
    """The next run writes its values to the same pm_values, in another order and with others before them."""
    with pm.program_guard(pm.Program(), pm.Program()):
        x, y = pm.layers.data("x", [-1]), pm.layers.data("y", [-1])
        both = pm.layers.concat([x, y])
        main = program_of(handles, pm.default_main_program())
    executor, scope, values = handles.executor_create(None), handles.scope_create(), handles.values_create()

    def run(feeds, fetches):
        signature = handles.signature_create(main, names("x", "y"), 2, names(*fetches), len(fetches))
        done(C.pm_run(executor, signature, scope, feeds, 2, values))

    for fetches, expected in ((["y", "x"], [4, 3]), ([both.name, "x"], [3, 3])):
        run(tensors([np.full(size, 3, "float32"), np.full(size, 4, "float32")]), ["x", "y"])
        run((Tensor * 2)(got(values, 0), got(values, 1)), fetches)
        assert [set(array_of(got(values, i))[:size]) for i in range(2)] == [{one} for one in expected]


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
