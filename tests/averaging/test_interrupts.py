"""After an interrupt at any time the scope has the raw values, to the bit, and no saved copies."""

import signal
import time

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import applied, averaged_model, train
from paddle_mini.averaging import Uniform, Window
from paddle_mini.averaging.running import RunningAverage
from small_model import assert_same_bits, batch


def interrupted_applies(model, times):
    """Enters apply() this many times, each with an interrupt after a random time; yields the number of interrupts so far."""
    random, met = np.random.RandomState(0), 0

    def interrupt(*_):
        raise KeyboardInterrupt

    testing = model.main.clone(for_test=True).prune([model.x, model.label], [model.logits])
    begun = time.perf_counter()
    for _ in range(10):
        with model.average.apply(model.exe, model.scope):
            model.exe.run(testing, batch(0), [model.logits], model.scope)
    longest = (time.perf_counter() - begun) / 10
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(times):
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, longest))
                with model.average.apply(model.exe, model.scope):
                    model.exe.run(testing, batch(0), [model.logits], model.scope)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                met += 1
            yield met
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")  # destructors must not print anything either
def test_an_interrupt_at_any_time_finds_raw_values_and_nothing_set_aside():
    model = averaged_model(Window(2), pm.optimizer.Adam(0.05))
    train(model, 5)
    before = model.everything()
    averages, met = applied(model), 0
    for met in interrupted_applies(model, 300):  # noqa: B007 (how many there were)
        assert_same_bits(model.everything(), before)
    assert met > 30
    assert_same_bits(applied(model), averages)


def test_an_interrupt_while_the_first_apply_is_made(monkeypatch):
    """The program that computes averages is cached only after it is complete."""
    model = averaged_model(Window(2))
    train(model, 3)
    before, made, append = model.everything(), [], RunningAverage.append_value

    def interrupted(*arguments):
        made.append(append(*arguments))
        if len(made) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(RunningAverage, "append_value", interrupted)
    with pytest.raises(KeyboardInterrupt):
        applied(model)
    assert_same_bits(model.everything(), before)
    history = averaged_model(Window(2))
    train(history, 3)
    assert_same_bits(applied(model), applied(history))


def test_an_interrupted_apply_does_not_end_a_later_one(monkeypatch):
    """Not even if its traceback, with all objects it holds, is freed in the middle of the later one."""
    model = averaged_model(Uniform())
    train(model, 3)
    averages = applied(model)

    class Interrupted(pm.Executor):
        def run(self, *_, **__):
            raise KeyboardInterrupt

    try:
        model.average.apply(Interrupted(), model.scope)
    except KeyboardInterrupt as error:
        kept = error
    with model.average.apply(model.exe, model.scope):
        kept.__traceback__ = None
        del kept
        assert_same_bits(model.values(), averages)


def test_an_apply_that_nobody_enters_gives_the_raw_values_back():
    model = averaged_model(Uniform())
    train(model, 3)
    before = model.everything()
    held = model.average.apply(model.exe, model.scope)
    assert any("@" in name for name in model.scope.names())
    del held
    assert_same_bits(model.everything(), before)
