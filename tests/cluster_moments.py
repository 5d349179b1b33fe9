# Synchronization by files: between the trainers of a job, wherever they run, and the test that started the job.
import os
import threading
import time
from contextlib import contextmanager

import numpy as np

import paddle_mini as pm
from cluster_jobs import begun
from paddle_mini.cluster import StorageError
from paddle_mini.cluster.thread_engine import ThreadEngine

TIMEOUT = 60.0
"""Seconds before a missing moment is an error."""


def wait_for(path, stop=None):
    """Waits until the file exists and returns True; returns False if `stop` is set before."""
    deadline = time.monotonic() + TIMEOUT
    while not path.exists():
        if stop is not None and stop.is_set():
            return False
        assert time.monotonic() < deadline, f"no process has created {path}"
        time.sleep(0.005)
    return True


def reach(moment):
    """Signals that a trainer has reached a moment, and returns when the test has acted: at once if it has acted before,
    so that a moment happens once even if trainers restart."""
    moment.touch()
    wait_for(moment.with_name(moment.name + ".done"))


@contextmanager
def at(moment, act):
    """Calls act() in a thread of the test's process when a trainer reaches the moment, which must happen."""
    stop, problems = threading.Event(), []

    def wait():
        try:
            if wait_for(moment, stop):
                act()
        except BaseException as error:
            problems.append(error)
        moment.with_name(moment.name + ".done").touch()

    thread = threading.Thread(target=wait, name=f"at {moment.name}")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    assert not problems, problems
    assert moment.exists(), f"no trainer came to {moment}"


def ticket(folder, first=0):
    """A number, from `first`, that no other caller gets there."""
    while True:
        try:
            os.close(os.open(folder / f"ticket {first}", os.O_CREAT | os.O_EXCL))
            return first
        except FileExistsError:
            first += 1


def note(path, word):
    """Appends a line to a file; safe for concurrent callers."""
    with open(path, "a") as file:
        file.write(f"{word}\n")


def notes(path):
    return path.read_text().split()


def marked(folder, size, pushes, optimizer, pause):
    """Trains in a trainer: each push, of all trainers and their incarnations, subtracts `size` at a position of its own in two
    parameters, one at each server; returns them. Later ones subtract nothing; the last comes when the test has acted at the
    moment "steps". Steps are `pause` seconds apart and noted in folder / "steps"."""
    x = pm.layers.data("x", [pushes])
    zeros = pm.initializer.Constant(0.0)
    a, b = (pm.layers.create_parameter([pushes], "float32", name=name, default_initializer=zeros) for name in "ab")
    optimizer.minimize(pm.layers.reduce_sum(a * x) + pm.layers.reduce_sum(b * x))
    trainer, place = begun(), -1
    while (place := ticket(folder, place + 1)) < pushes or not (folder / "steps.done").exists():
        feed = np.zeros(pushes, "float32")
        feed[place : place + 1] = size
        trainer.run({"x": feed})
        note(folder / "steps", trainer.number)
        time.sleep(pause)
    trainer.pull()
    return [pm.global_scope().get(name) for name in "ab"]


def die(engine, name, absent=0.05):
    """Kills a process of the job. A service is restarted: by Ray itself; on threads after this many seconds."""
    engine.kill(name)
    if isinstance(engine, ThreadEngine) and not name.startswith("trainer "):
        threading.Timer(absent, begin_again, [engine, name]).start()


def begin_again(engine, name):
    """A service of a ThreadEngine, which can't start while its disk is full."""
    while True:
        try:
            return engine.restart(name)
        except StorageError:
            time.sleep(0.01)
