"""Workers of a Loader: the same order with any number, errors with the index, and no thread or process is left."""

import gc
import multiprocessing
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import paddle_mini as pm
from live_threads import threads
from loader_functions import (
    Feeder,
    dies_after_seven,
    dies_at_seven,
    doubled,
    fails_at_seven,
    noisy,
    slow_at_first,
    unsendable_at_seven,
)
from paddle_mini.data import Loader

DATA = {"x": np.arange(20, dtype="float32")[:, None], "y": np.arange(20)}
THREADS = [1, 2, 5]


def epoch(loader):
    return [{name: (value.dtype, value.tolist()) for name, value in batch.items()} for batch in loader]


def pipeline(data=DATA):
    return Loader(data).map(slow_at_first).map(doubled).map(noisy, random=True).shuffle(seed=3, buffer_size=20).batch(3)


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = threads()
    yield
    gc.collect()
    assert threads() <= before and multiprocessing.active_children() == []


@pytest.mark.parametrize("workers, processes", [*((count, False) for count in THREADS), (2, True)])
def test_the_order_and_the_bits_do_not_depend_on_workers(workers, processes):
    plain, loader = pipeline(), pipeline().prefetch(4, workers, processes)
    for _ in range(2):
        assert epoch(loader) == epoch(plain)


def samples():
    for x, y in zip(*DATA.values()):
        yield {"x": x, "y": y}


def test_an_iterable_is_read_by_one_thread():
    names = set()

    def noting():
        for sample in samples():
            names.add(threading.current_thread().name)
            yield sample

    assert epoch(pipeline(noting).prefetch(4, workers=3)) == epoch(pipeline(samples))
    assert len(names) == 1


@pytest.mark.parametrize("processes", [False, True])
def test_an_early_end_stops_the_workers(processes):
    loader = pipeline().prefetch(4, workers=2, processes=processes)
    for batch in loader:
        del batch
        break
    iterator = iter(loader)
    next(iterator)
    if processes:
        assert len(multiprocessing.active_children()) >= 1
    del iterator
    gc.collect()
    assert multiprocessing.active_children() == []
    assert loader.state_dict() == {"epoch": 1, "position": 1}


def test_the_end_waits_for_a_source_that_is_being_read():
    def slow():
        for sample in samples():
            yield sample
            time.sleep(0.1)

    before = threads()
    iterator = iter(Loader(slow).batch(1).prefetch(3, workers=1))
    next(iterator)
    iterator.close()
    assert threads() <= before


def test_the_end_does_not_wait_for_a_source_that_is_blocked():
    rows, released = queue.SimpleQueue(), threading.Event()
    for number in range(4):
        rows.put({"y": number})

    def blocked():
        while not released.is_set():
            yield rows.get()

    given = []
    for batch in Loader(blocked).batch(2).prefetch(3, workers=2):
        given.append(batch["y"].tolist())
        if len(given) == 2:
            break
    assert given == [[0, 1], [2, 3]]
    released.set()
    rows.put({"y": 4})  # the thread ends when the row comes
    for thread in threading.enumerate():
        if thread.name == "paddle_mini-loader-reader":
            thread.join(30)


@pytest.mark.parametrize("batched", [False, True])
def test_a_result_that_can_not_be_sent_is_named(batched):
    loader = Loader(DATA).map(unsendable_at_seven)
    loader = loader.batch(3, feeder=Feeder()) if batched else loader
    what = "the batch of the samples 6, 7, 8" if batched else "sample 7"
    with pytest.raises(pm.ProgramError, match=f"^Loader: {what} can't be sent from its process: "):
        list(loader.prefetch(4, workers=1, processes=True))


def test_an_iterator_that_was_not_read_starts_nothing():
    before = threads()
    iterator = iter(pipeline().prefetch(4, workers=2))
    assert threads() <= before
    del iterator


def test_an_endless_source_is_read_ahead_by_as_much_as_asked_for():
    read = []

    def endless():
        while True:
            read.append(None)
            yield {"y": len(read)}

    iterator = iter(Loader(endless).batch(2).prefetch(3, workers=2))
    next(iterator)
    time.sleep(0.2)
    # Three batches that wait, the one that was given, and one that the reader holds.
    assert 2 <= len(read) <= 10
    iterator.close()


@pytest.mark.parametrize("workers, processes", [(0, False), (2, False), (2, True)])
def test_errors_come_in_their_place_with_the_index(workers, processes):
    loader = Loader(DATA).map(fails_at_seven).batch(3).prefetch(4, workers, processes)
    given = []
    with pytest.raises(pm.ProgramError, match="^Loader: 'fails_at_seven' of sample 7 failed: KeyError: 'seven'$") as failed:
        for batch in loader:
            given.append(batch["y"].tolist())
    assert given == [[0, 1, 2], [3, 4, 5]]
    assert "fails_at_seven" in str(failed.value.__cause__) if processes else isinstance(failed.value.__cause__, KeyError)
    assert loader.state_dict() == {"epoch": 0, "position": 2}


def test_errors_of_the_source_come_in_their_place():
    def broken():
        yield from list(samples())[:4]
        raise OSError("the disk is gone")

    loader = Loader(broken).batch(2).prefetch(4, workers=2)
    given = []
    with pytest.raises(pm.ProgramError, match="reading sample 4 failed: OSError: the disk is gone"):
        given.extend(loader)
    assert len(given) == 2


def test_a_process_that_dies_is_reported():
    with pytest.raises(pm.ProgramError, match="a worker process has ended: it was killed, or the script lacks"):
        list(Loader(DATA).map(dies_at_seven).batch(3).prefetch(4, workers=1, processes=True))


def test_a_process_that_dies_between_two_items_is_reported():
    """Before the next item is submitted, which fails then."""
    loader = Loader(DATA).map(dies_after_seven).batch(4).prefetch(1, workers=1, processes=True)
    with pytest.raises(pm.ProgramError, match="a worker process has ended: it was killed, or the script lacks"):
        for number, _ in enumerate(loader):
            while number == 0 and multiprocessing.active_children():
                time.sleep(0.01)


def test_a_function_that_can_not_be_sent_is_refused():
    with pytest.raises(
        pm.ProgramError, match="the worker processes can't start: .*functions must be defined at the top"
    ) as refused:
        list(Loader(DATA).map(lambda sample: sample).batch(3).prefetch(4, workers=1, processes=True))
    assert len(str(refused.value).splitlines()) <= 12


def test_feeds_with_sequences_are_made_in_processes():
    words = pm.layers.data("words", [-1], dtype="int64", lod_level=1)
    rows = [([1, 2, 3],), ([4],), ([5, 6],)]
    loader = Loader(rows).batch(2, feeder=pm.data.DataFeeder([words]))
    for plain, made in zip(loader, loader.prefetch(2, workers=1, processes=True)):
        assert plain["words"].lod == made["words"].lod and np.array_equal(plain["words"].array, made["words"].array)


def test_processes_start_after_operators_have_run():
    """A forked child would wait for threads that it does not have."""
    x = pm.layers.data("x", [-1, 512])
    product = pm.layers.matmul(x, x, transpose_y=True)
    executor = pm.Executor()
    for batch in Loader({"x": np.ones((512, 512), "float32")}).batch(256).prefetch(2, workers=1, processes=True):
        (value,) = executor.run(feed=batch, fetch_list=[product])
        assert value[0, 0] == 512


SCRIPT = """
import multiprocessing
from loader_functions import doubled
from paddle_mini.data import Loader

if __name__ == "__main__":
    loader = Loader([{"x": i} for i in range(10**6)]).map(doubled).batch(2).prefetch(2, workers=2, processes=True)
    for number, batch in enumerate(loader):
        if number == 5:
            print(*(child.pid for child in multiprocessing.active_children()), flush=True)
"""


def is_running(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"  # one that nothing has waited for


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_worker_processes_end_with_their_parent(tmp_path, number):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        workers = [int(word) for word in parent.stdout.readline().split()]
        assert len(workers) == 2 and all(map(is_running, workers))
        parent.send_signal(number)
        parent.wait(30)
        deadline = time.monotonic() + 30
        while any(map(is_running, workers)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(is_running, workers))
