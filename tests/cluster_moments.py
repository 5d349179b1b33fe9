# How the trainers of a job, wherever they run, meet each other and the test that began the job: by files.
import os
import threading
import time
from contextlib import contextmanager

from paddle_mini.cluster import StorageError
from paddle_mini.cluster.thread_engine import ThreadEngine

TIMEOUT = 60.0
"""Seconds in which a meeting must have come about."""


def wait_for(path, stop=None):
    """Returns when there is such a file, False when `stop` is set before."""
    deadline = time.monotonic() + TIMEOUT
    while not path.exists():
        if stop is not None and stop.is_set():
            return False
        assert time.monotonic() < deadline, f"nobody comes to {path}"
        time.sleep(0.005)
    return True


def reach(moment):
    """Says that a trainer is at a moment, and returns when the test has done what it does then: at once, where it was
    done before, so that a moment comes once, however often a trainer begins again."""
    moment.touch()
    wait_for(moment.with_name(moment.name + ".done"))


@contextmanager
def at(moment, act):
    """act() is called, in a thread of the test's process, when a trainer reaches the moment; it must do so."""
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
    """A number, from `first`, that nobody else gets there."""
    while True:
        try:
            os.close(os.open(folder / f"ticket {first}", os.O_CREAT | os.O_EXCL))
            return first
        except FileExistsError:
            first += 1


def note(path, word):
    """Adds a line to a file, which several may do at a time."""
    with open(path, "a") as file:
        file.write(f"{word}\n")


def notes(path):
    return path.read_text().split()


def die(engine, name, absent=0.05):
    """A part is killed. A service is begun again: by itself on Ray; on threads after so many seconds."""
    engine.kill(name)
    if isinstance(engine, ThreadEngine) and not name.startswith("trainer "):
        threading.Timer(absent, begin_again, [engine, name]).start()


def begin_again(engine, name):
    """A service of a ThreadEngine, which can't begin as long as its disk is full."""
    while True:
        try:
            return engine.restart(name)
        except StorageError:
            time.sleep(0.01)
