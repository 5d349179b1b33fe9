"""Threads that apply averages, train and change a scope: each call is right, or raises ScopeInUse before any change."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import averaged_model, train
from paddle_mini.averaging import Uniform, Window
from small_model import assert_same_bits, batch
from threads import repeated, together


def for_testing(model):
    return model.main.clone(for_test=True).prune([model.x, model.label], [model.logits])


@pytest.mark.parametrize("schemes", [Uniform(), [Uniform(), Window(3)]], ids=repr)
def test_all_uses_of_a_scope_at_once(schemes, tmp_path):
    """Two threads apply averages, one trains, others look, evaluate, set, load and save: raw and averaged values are
    whole."""
    model = averaged_model(schemes)
    train(model, 4)
    model.scope.set("extra", np.zeros(3, "float32"))
    scope, testing = model.scope, for_testing(model)
    pm.io.save_persistables(None, tmp_path / "before", model.main, "all", scope)
    executors = [pm.Executor() for _ in range(6)]
    wrong = []

    def apply(exe, scheme=None):
        with model.average.apply(exe, scope, scheme):
            names = set(model.parameters)
            held = {name: scope.get(name) for name in names}
            if not all(f"{name}@RAW" in scope for name in names):
                wrong.append("raw values inside apply()")
            time.sleep(0)
            again = {name: scope.get(name) for name in names}
            if any(held[name].tobytes() != again[name].tobytes() for name in names):
                wrong.append("values changed inside apply()")

    def look():
        for name in scope.names():
            if name in scope:
                try:
                    scope.info(name), scope.lod(name), scope.place(name), scope.get(name)
                except pm.OpError as error:  # it was erased since
                    if "is not in the scope" not in str(error):
                        raise

    def step():
        executors[2].run(model.main, batch(1), [model.loss], scope)

    def evaluate(exe):
        (value,) = exe.run(testing, batch(0), [model.logits], scope)
        if not np.isfinite(value).all():
            wrong.append("logits")

    def change():
        scope.set("extra", np.ones(3, "float32"))
        scope.set_rows("rows", [0, 2], np.ones((2, 3), "float32"), 5)
        scope.erase("rows")

    def save_and_load():
        state = pm.io.get_state(model.main, scope)
        pm.io.save_persistables(None, tmp_path / "again", model.main, "all", scope)
        pm.io.set_state(model.main, state, scope)

    refused = []
    together(
        repeated(lambda: apply(executors[0]), 60, refused),
        repeated(lambda: apply(executors[1], schemes[1] if isinstance(schemes, list) else None), 60, refused),
        repeated(step, 150, refused),
        repeated(look, 60, refused),
        repeated(change, 150, refused),
        repeated(lambda: evaluate(executors[3]), 150, refused),
        repeated(lambda: evaluate(executors[4]), 150, refused),
        repeated(save_and_load, 20, refused),
        repeated(lambda: model.average.statistics(scope), 20, refused),
    )
    assert wrong == []
    assert not [name for name in scope.names() if "@" in name]
    pm.io.load_persistables(None, tmp_path / "before", model.main, "all", scope)


def test_only_one_of_two_threads_applies():
    model = averaged_model(Uniform())
    train(model, 3)
    before, seen, counts = model.everything(), [], {"applied": 0, "refused": 0}
    with model.average.apply(model.exe, model.scope):
        averages = {name: model.scope.get(name).tobytes() for name in model.parameters}

    def apply(exe):
        try:
            with model.average.apply(exe, model.scope):
                counts["applied"] += 1
                for _ in range(20):
                    seen.append({name: model.scope.get(name).tobytes() for name in model.parameters})
        except pm.ScopeInUse as error:
            assert "applied already" in str(error)
            counts["refused"] += 1

    executors = [pm.Executor(), pm.Executor()]
    together(*(repeated(lambda exe=exe: apply(exe), 40) for exe in executors))
    assert counts["applied"] and counts["applied"] + counts["refused"] == 80
    assert all(one == averages for one in seen)
    assert_same_bits(model.everything(), before)


def test_a_failed_apply_leaves_another_one_alone():
    model = averaged_model(Uniform())
    train(model, 3)
    before = model.everything()
    with model.average.apply(model.exe, model.scope):
        inside = model.values()
        with pytest.raises(pm.ScopeInUse, match="applied already"):
            model.average.apply(pm.Executor(), model.scope)
        with pytest.raises(pm.ScopeInUse, match="applied already"):
            model.average.statistics(model.scope)
        assert_same_bits(model.values(), inside)
        assert any((inside[name] != before[name]).any() for name in inside)
    assert_same_bits(model.everything(), before)


def test_what_is_applied_is_not_changed():
    """Neither by a step, nor by setting, loading or erasing; other variables may be."""
    model = averaged_model(Uniform())
    train(model, 3)
    before, state = model.everything(), pm.io.get_state(model.main, model.scope)
    name = next(iter(model.parameters))
    with model.average.apply(model.exe, model.scope):
        inside = model.values()
        for change in (
            lambda: model.step(1),
            lambda: model.scope.set(name, inside[name]),
            lambda: model.scope.erase(f"{name}@RAW"),
            lambda: model.scope.set_rows(name, [0], np.ones((1, 2), "float32"), 3),
            lambda: model.scope.erase(name),
            lambda: pm.io.set_state(model.main, state, model.scope),
        ):
            with pytest.raises(pm.ScopeInUse, match="while averages are applied"):
                change()
        model.scope.set("other", np.zeros(2, "float32"))
        assert_same_bits(model.values(), inside)
    model.scope.erase("other")
    assert_same_bits(model.everything(), before)
    model.step(1)


def test_a_handle_that_goes_away_in_a_signal_handler_during_a_run_loses_nothing():
    """Its values are restored at the next use of the scope."""
    model = averaged_model(Uniform())
    train(model, 3)
    before = model.everything()
    handles = [model.average.apply(model.exe, model.scope)]
    with pm.program_guard(pm.Program(), pm.Program()):
        h = pm.layers.fill_constant([600, 600], "float32", 1.0)
        for _ in range(40):
            h = pm.layers.matmul(h, h)
        long = h.block.program
    met = []
    previous = signal.signal(signal.SIGALRM, lambda *_: met.append(handles.clear()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        model.exe.run(long, scope=model.scope)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert met == [None]
    assert_same_bits(model.everything(), before)


def test_a_change_gets_its_turn():
    """Also among threads that read all the time."""
    model = averaged_model(Uniform())
    train(model, 2)
    testing, done = for_testing(model), threading.Event()

    def read():
        exe = pm.Executor()
        while not done.is_set():
            exe.run(testing, batch(0), [model.logits], model.scope)

    def apply():
        try:
            for _ in range(30):
                with model.average.apply(model.exe, model.scope):
                    pass
        finally:
            done.set()

    together(read, read, read, apply)


def test_several_names_are_set_all_or_none():
    """The first ones are not set if a later one is rejected."""
    model = averaged_model(Uniform())
    train(model, 2)
    state = {
        name: np.asarray(value + 1)
        for name, value in sorted(pm.io.get_state(model.main, model.scope).items(), key=lambda item: item[0] in model.parameters)
    }
    with model.average.apply(model.exe, model.scope):
        before = model.everything()
        with pytest.raises(pm.ScopeInUse):
            pm.io.set_state(model.main, state, model.scope)
        assert_same_bits(model.everything(), before)


MANY_CLAIMS = """
import sys, threading
import paddle_mini as pm
from paddle_mini import _core
sys.setswitchinterval(1e-5)
def claims():
    scope, held = pm.Scope(), []
    for _ in range(60000):
        held.append(_core.Claim(scope, []))
        if len(held) > 300:
            held.clear()
callers = [threading.Thread(target=claims) for _ in range(6)]
for caller in callers:
    caller.start()
for caller in callers:
    caller.join()
"""


def test_threads_that_make_handles_at_once():
    """In a process of its own: it would crash if handles were registered without the GIL."""
    ran = subprocess.run([sys.executable, "-c", MANY_CLAIMS], capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stderr) == (0, "")
