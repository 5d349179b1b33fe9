"""The C interface: calls in an order that has no result yet, names and sizes that are wrong, two programs in one scope."""

import ctypes

import numpy as np

import paddle_mini as pm
from c_calls import (
    ARGUMENT,
    OPERATOR,
    PROGRAM,
    SHAPE,
    C,
    Tensor,
    array_of,
    done,
    everything,
    got,
    names,
    program_of,
    refused,
    scope_with,
    tensor,
    tensors,
)
from small_model import SmallModel, assert_same_bits, batch


def signature_of(handles, model):
    return handles.signature_create(program_of(handles, model.main), names("x", "label"), 2, names(model.loss.name), 1)


def test_a_run_before_parameters_are_loaded(handles):
    """It names what has no value; after the scope has it, the same handles run."""
    model = SmallModel()
    executor, scope, signature = handles.executor_create(None), handles.scope_create(), signature_of(handles, model)
    feeds = tensors(list(batch(0).values()))
    assert "'fc_0.w_0'" in refused(OPERATOR, C.pm_run, executor, signature, scope, feeds, 2, 0)
    for name, value in model.everything().items():
        done(C.pm_scope_set(scope, name.encode(), ctypes.byref(tensor(value))))
    values = handles.values_create()
    done(C.pm_run(executor, signature, scope, feeds, 2, values))
    assert array_of(got(values)).tobytes() == model.step(0).tobytes()


def test_values_before_a_run(handles):
    """Neither results nor a variable that a run would write."""
    model, values, found = SmallModel(), handles.values_create(), Tensor()
    assert "below 0" in refused(ARGUMENT, C.pm_values_get, values, 0, 0, ctypes.byref(found))
    refused(ARGUMENT, C.pm_values_text, values, 0, ctypes.byref(ctypes.c_char_p()))
    scope = scope_with(handles, model.everything())
    assert "'later'" in refused(OPERATOR, C.pm_scope_get, scope, names("later"), 1, values)
    refused(ARGUMENT, C.pm_values_get, values, 0, 0, ctypes.byref(found))


def test_a_failed_run_leaves_the_results_of_the_run_before(handles):
    model, values = SmallModel(), handles.values_create()
    executor, scope = handles.executor_create(None), scope_with(handles, model.everything())
    signature, feed = signature_of(handles, model), batch(0)
    done(C.pm_run(executor, signature, scope, tensors([feed["x"], feed["label"]]), 2, values))
    before = array_of(got(values)).tobytes()
    refused(OPERATOR, C.pm_run, executor, signature, scope, tensors([feed["x"], feed["label"] + 5]), 2, values)
    assert array_of(got(values)).tobytes() == before


def test_memory_that_is_too_small_is_refused_with_the_size_that_is_needed(handles):
    model = SmallModel()
    executor, scope = handles.executor_create(None), scope_with(handles, model.everything())
    feed = tensors(list(batch(0).values()))
    needed, feed[0].bytes = feed[0].bytes, feed[0].bytes - 1
    message = refused(SHAPE, C.pm_run, executor, signature_of(handles, model), scope, feed, 2, 0)
    assert str(needed) in message and str(needed - 1) in message


def test_names_that_are_null_or_have_a_nul(handles):
    """A C text ends at its first NUL, so a program or a state may have names that no caller can write; they are refused."""
    model, handle = SmallModel(), ctypes.c_uint64()
    program = program_of(handles, model.main)
    one_null = (ctypes.c_char_p * 2)(b"x", None)
    assert "NULL" in refused(ARGUMENT, C.pm_signature_create, program, one_null, 2, None, 0, ctypes.byref(handle))
    scope, values = scope_with(handles, model.everything()), handles.values_create()
    assert "NULL" in refused(ARGUMENT, C.pm_scope_get, scope, one_null, 2, values)
    whole = model.main.to_bytes()
    assert whole.count(b"fc_0.w_0") > 1
    with_nul = whole.replace(b"fc_0.w_0", b"fc_0\0w_0")
    message = refused(PROGRAM, C.pm_program_load, with_nul, len(with_nul), ctypes.byref(handle))
    assert "fc_0?w_0" in message
    assert handle.value == 0


def test_two_programs_in_one_scope(handles):
    """Training and its test share parameters: each run sees those of the run before; another model's names are its own."""
    model = SmallModel(pm.optimizer.SGD(0.1).minimize)
    test = model.main.clone(for_test=True).prune(["x"], [model.logits.name])
    scope, executor, values = scope_with(handles, model.everything()), handles.executor_create(None), handles.values_create()
    train = signature_of(handles, model)
    infer = handles.signature_create(program_of(handles, test), names("x"), 1, names(model.logits.name), 1)
    for number in range(3):
        feed = batch(number)
        done(C.pm_run(executor, train, scope, tensors([feed["x"], feed["label"]]), 2, 0))
        model.step(number)
        done(C.pm_run(executor, infer, scope, tensors([feed["x"]]), 1, values))
        (expected,) = model.exe.run(test, {"x": feed["x"]}, [model.logits.name], model.scope)
        np.testing.assert_array_equal(array_of(got(values)), expected)
    assert_same_bits(everything(handles, scope), model.everything())
