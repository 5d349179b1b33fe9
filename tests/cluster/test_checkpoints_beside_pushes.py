# Checkpoints are written while a server answers: each has the state of the moment at which it began, to the bit.
import os
import threading

import pytest

from paddle_mini.cluster import StorageError
from paddle_mini.cluster.servers.checkpoint_writer import in_thread
from server_calls import AVERAGES, BOTH, Group, call, config, generator, gradients, train
from server_checkpoints import bits, checkpoint, expected, files, recovered


class SlowDisk:
    """A disk that writes nothing until it is let go. asked: whether something waits for it. error: what it does then."""

    def __init__(self, monkeypatch, error=None):
        self.asked, self.goes_on, self._write, self._error = threading.Event(), threading.Event(), os.write, error
        monkeypatch.setattr(os, "write", self.write)

    def write(self, descriptor, data):
        self.asked.set()
        self.goes_on.wait()
        if self._error is not None:
            raise self._error
        return self._write(descriptor, data)


@pytest.fixture
def group(tmp_path):
    """A server that writes in a thread, after 3 steps; its first checkpoint is on the disk."""
    made = Group(1, BOTH, directory=str(tmp_path))
    train(made, 0, 3)
    checkpoint(made)
    made.how = in_thread
    made.restart(0)
    yield made
    made.servers[0].rest()


def waits(group, name="checkpoint", **fields):
    return "wait" in call(group.servers[0], name, **fields)[0]


def test_requests_are_answered_while_the_disk_is_slow(group, tmp_path, monkeypatch):
    disk = SlowDisk(monkeypatch)
    before = files(tmp_path, "*.ckpt")
    assert waits(group, timestamp=5)
    disk.asked.wait()
    for step in range(3, 6):
        train(group, step, step + 1)
        assert bits(group) == expected(step + 1) and group.status()["version"] == step + 1
        assert waits(group, timestamp=5) and waits(group, timestamp=6), "one is written at a time"
        group.servers[0].tick()
    assert files(tmp_path, "*.ckpt") == before, "all that happened before anything was written"
    disk.goes_on.set()
    group.servers[0].rest()
    written = checkpoint(group, timestamp=5)
    assert (written["version"], written["timestamp"]) == (3, 5) and bits(group) == expected(6)
    again, version = recovered(tmp_path)
    assert version == 3 and bits(again) == expected(3)
    assert again.status()["pushes"] == {"sent": 3, "applied": 3, "dropped": 0, "repeated": 0, "waiting": 0}
    assert not again.push(gradients(3), step=3)[0]["repeated"] and bits(again) == expected(4)


def test_the_initialiser_waits_for_the_first_checkpoint(tmp_path, monkeypatch):
    """After a restart no server is without the parameters that others have."""
    disk = SlowDisk(monkeypatch)
    group = Group(1, BOTH, directory=str(tmp_path), start=in_thread, begin=False)
    group.init({name: given[0] for name, given in BOTH.items()}, finish=False)
    finish = {"token": 1, "count": len(group.blocks(0))}
    for _ in range(3):
        assert waits(group, "finish_init", **finish)
    disk.goes_on.set()
    group.servers[0].rest()
    assert call(group.servers[0], "finish_init", **finish)[0]["repeated"]
    assert recovered(tmp_path)[1] == 0


def test_a_disk_that_fails_late(group, tmp_path, monkeypatch, caplog):
    """The requester is told; training continued, and the next checkpoint is whole."""
    disk = SlowDisk(monkeypatch, OSError(28, "No space left on device"))
    assert waits(group)
    train(group, 3, 4)
    disk.goes_on.set()
    group.servers[0].rest()
    with pytest.raises(StorageError, match="No space left"):
        checkpoint(group)
    assert group.status()["checkpoints"]["errors"] == 1 and not caplog.records
    monkeypatch.undo()
    waits(group)  # unless the disk is faster than the reply
    group.servers[0].rest()
    assert recovered(tmp_path)[1] == 4


def test_two_threads_push_while_checkpoints_are_written(tmp_path):
    """The cut is one moment between two pushes: parameters, optimizers, averages and counts of that moment. The engine
    gives a server one request at a time; the lock here is the engine's."""
    value = generator("long").standard_normal((3000, 7)).astype("float32")
    parameters = {"v": (value, config("Adam", averaging=AVERAGES), False), "t": (value, config("Adagrad"), True)}
    group = Group(1, parameters, trainers=2, directory=str(tmp_path))
    group.how = in_thread
    server, lock, stop = group.restart(0), threading.Lock(), threading.Event()

    def push(trainer):
        random, step = generator(f"trainer {trainer}"), 0
        while not stop.is_set():
            rows = random.integers(0, 3000, 50), random.standard_normal((50, 7)).astype("float32")
            given = {"t": rows} if step % 3 else {"t": rows, "v": random.standard_normal(value.shape).astype("float32")}
            with lock:
                group.push(given, trainer=trainer, step=step)
            step += 1

    threads = [threading.Thread(target=push, args=(trainer,)) for trainer in range(2)]
    for thread in threads:
        thread.start()
    try:
        for number in range(8):
            with lock:
                reply = call(group.servers[0], "checkpoint", timestamp=number)[0]  # "wait", unless it is written already
                then = everything(group)
            server.rest()
            restarted = Group(1, parameters, trainers=2, directory=str(tmp_path), begin=False)
            assert everything(restarted) == then
            with lock:
                written = reply.get("checkpoint") or checkpoint(group, timestamp=number)
            assert written["version"] == then[1]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        server.rest()
    assert group.status()["version"] > then[1]


def everything(group):
    """Values, version, counts and an average."""
    status = group.status()
    averages = call(group.servers[0], "pull", blocks=[["v", 0]], average=1)[1]
    return bits(group), status["version"], status["pushes"], [one.tobytes() for one in averages]
