# The C library with threads and processes: a call succeeds or is rejected, and updates are never torn.
import os
import resource
import threading
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import paddle_mini as pm
from one_parameter import gradients, library, values
from paddle_mini.optimizer.native_library import load_library
from threads import together

O = pm.optimizer


def test_objects_of_two_threads_do_not_meet():
    begin, steps = values(shape=(100, 100)), gradients(10, shape=(100, 100))
    found = [library("Adam", begin) for _ in range(3)]

    def train(native):
        for gradient in steps:
            native.update(gradient)

    together(lambda: train(found[0]), lambda: train(found[1]))
    train(found[2])
    for native in found[:2]:
        assert native.state() == found[2].state()


def test_one_object_of_16_threads():
    """Each call succeeds or is rejected as busy; successful ones are counted."""
    native, gradient = library("SGD", np.zeros(50000)), np.ones(50000)
    done, busy, wrong, start = [0] * 16, [0] * 16, [], threading.Barrier(16)

    def work(number):
        start.wait()
        for _ in range(40):
            try:
                native.view()
                native.update(gradient)
                done[number] += 1
            except O.BusyError:
                busy[number] += 1
            except BaseException as error:
                wrong.append(error)

    together(*(lambda number=number: work(number) for number in range(16)))
    assert wrong == [] and sum(done) + sum(busy) == 16 * 40
    assert native.updates == sum(done) > 0
    np.testing.assert_allclose(native.view(), np.full(50000, -0.1 * sum(done)), rtol=1e-9)
    assert np.unique(native.view()).size == 1  # no update was torn


def test_release_while_another_thread_updates():
    """Succeeds, or is rejected as busy or as released."""
    c, gradient = load_library(), np.ones(20000)
    config = O.SGD(0.1).to_config().SerializeToString()
    for _ in range(30):
        pointer = c.paddle_create_optimizer(config, len(config), 5, gradient.ctypes.data, gradient.nbytes, None, 0)
        statuses, begun = [], threading.Event()

        def update():
            for _ in range(20):
                statuses.append(c.paddle_update_parameter(pointer, 5, gradient.ctypes.data, gradient.nbytes))
                begun.set()

        def release():
            begun.wait()
            while c.paddle_release_optimizer(pointer) == -2:
                pass

        together(update, release)
        assert set(statuses) <= {0, -1, -2} and statuses[0] == 0
        assert c.paddle_release_optimizer(pointer) == -1


def test_close_while_another_thread_updates():
    for _ in range(20):
        native, gradient = library("SGD", np.zeros(20000)), np.ones(20000)
        begun = threading.Event()

        def update():
            try:
                while True:
                    native.update(gradient)
                    begun.set()
            except pm.ProgramError as error:
                assert "closed" in str(error)

        together(update, lambda: (begun.wait(), native.close()))


def in_a_child(work):
    """Runs work in a forked process, where it must not raise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other tests may have left threads
        child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_forked_process_goes_on():
    native, steps = library("Adam", values()), gradients(4)
    native.update(steps[0])
    before = native.state()

    def train():
        wanted = library("Adam", values())
        wanted.update(steps[0])
        for gradient in steps[1:]:
            native.update(gradient)
            wanted.update(gradient)
        assert wanted.state() == native.state() != before

    in_a_child(train)
    assert native.state() == before


def test_memory_that_is_not_there():
    """Returns a status, and the object is unchanged."""
    begin = np.zeros(6 * 10**6)
    native = library("Adam", begin)
    native.update(begin)

    def ask():
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**24, used + 2**24))
        for call in (native.state, lambda: library("Adam", begin)):
            with pytest.raises(pm.DeviceError, match="memory"):
                call()
        native.update(begin)
        assert native.updates == 2

    in_a_child(ask)
