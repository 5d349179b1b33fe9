"""Replies of a coordinator wait for its disk, and several share one call."""

import os
import threading
import time
from queue import SimpleQueue

import pytest

from coordinators import Asked, state
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.coordinator import coordinator_file, durable_state
from paddle_mini.cluster.coordinator.coordinator import Coordinator
from paddle_mini.cluster.coordinator.coordinator_settings import CoordinatorSettings
from paddle_mini.cluster.errors import StorageError
from paddle_mini.cluster.messages import decode_reply, encode
from paddle_mini.cluster.protocol import Join, View
from paddle_mini.cluster.replies import JobMembers, Welcome
from paddle_mini.cluster.thread_engine import ThreadEngine


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path)


@pytest.mark.parametrize("fails", [False, True])
def test_replies_that_wait_for_the_disk_share_one_call(job, monkeypatch, fails):
    job.trainer("first")
    before, calls, replies = state(job), [], SimpleQueue()

    def fdatasync(descriptor):
        calls.append(descriptor)
        if fails:
            raise OSError(5, "Input/output error")

    job.service.batched = True
    with monkeypatch.context() as patch:
        patch.setattr(coordinator_file.os, "fdatasync", fdatasync)
        patch.setattr(durable_state, "LONGEST_WAIT", 60.0)
        for number in range(20):
            job.service.take(*encode("job", Join(f"key {number}")), replies.put, 5.0)
        job.service.take(*encode("job", View()), replies.put, 5.0)
        assert replies.empty() and not calls, "they are in the log, but not yet on the disk"
        job.service.flush()
        assert len(calls) == 1
        answers = [replies.get_nowait() for _ in range(21)]
        if fails:
            for answer in answers:
                with pytest.raises(StorageError, match="Input/output error"):
                    decode_reply(Welcome, *answer)
            assert state(job) == before
    if fails:
        assert job.trainer("again")["trainer"] == 1
    else:
        assert [decode_reply(Welcome, *answer).number for answer in answers[:-1]] == list(range(1, 21))
        assert len(decode_reply(JobMembers, *answers[-1]).trainers) == 21
    job.restart()
    assert len(job.request("view")["trainers"]) == (2 if fails else 21)


def test_a_reply_does_not_wait_for_many_others(job, monkeypatch):
    """Nor for an engine that does not say when no other request waits."""
    replies = SimpleQueue()
    job.service.take(*encode("job", Join("a")), replies.put, 5.0)
    assert replies.qsize() == 1
    job.service.batched = True
    monkeypatch.setattr(durable_state, "LONGEST_WAIT", 0.0)
    job.service.take(*encode("job", Join("b")), replies.put, 5.0)
    assert replies.qsize() == 2
    monkeypatch.setattr(durable_state, "LONGEST_WAIT", 60.0)
    job.service.take(*encode("job", Join("c")), replies.put, 5.0)
    job.service.take(*encode("job", Join("d")), replies.put, 5.0)
    assert replies.qsize() == 2
    job.service.tick()
    assert replies.qsize() == 4


def test_threads_that_join_at_once_share_calls(tmp_path, monkeypatch):
    calls, sync = [], os.fdatasync

    def slow(descriptor):
        calls.append(descriptor)
        time.sleep(0.005)  # others come meanwhile
        sync(descriptor)

    monkeypatch.setattr(coordinator_file.os, "fdatasync", slow)
    engine, count = ThreadEngine(), 40
    engine.serve({"coordinator": lambda link: Coordinator(CoordinatorSettings("job", count, 1), str(tmp_path))})
    threads = [
        threading.Thread(target=Client(engine.link(), "job").request, args=("coordinator", Join(str(number), number)))
        for number in range(count)
    ]
    calls.clear()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Client(engine.link(), "job").request("coordinator", View()).trainers) == count
    assert len(calls) < count / 2
    engine.stop()
