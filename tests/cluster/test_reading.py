"""Tasks in batches: several short ones at a time, long ones one by one, and what is done is reported within a second."""

import numpy as np
import pytest

from coordinators import Asked, ToService
from fake_clock import Clock
from paddle_mini.cluster import Malformed
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.trainers.membership import Membership
from paddle_mini.cluster.trainers.reading import Reading
from paddle_mini.cluster.wire import unpack


class Counting(ToService):
    def __init__(self, service):
        super().__init__(service)
        self.sent = []

    def send(self, requests, timeout):
        self.sent += [unpack(request.header) for request in requests]
        return super().send(requests, timeout)

    def of(self, name):
        return [one for one in self.sent if one["request"] == name]


class Reader:
    """A trainer that reads. log: what it does, in order."""

    def __init__(self, job, number=0):
        self.link, self.clock, self.log = Counting(job.service), Clock(), []
        self.membership = Membership(number, 0, Client(self.link, "job"), 1e6, dict)
        self.membership.join()
        self.membership.stop_heartbeat()
        flush = lambda: self.log.append("flush")
        self.reading = Reading(Client(self.link, "job"), self.membership, flush, None, self.clock)

    def read(self, count, seconds, per_task=1, passes=1):
        for chunk in self.reading.chunks(list(range(count)), per_task, passes, lambda number: None):
            self.log.append(chunk)
            self.clock.pass_by(seconds)
            yield chunk


@pytest.fixture
def job(tmp_path):
    return Asked(tmp_path, trainers=2, lease=1e6)


def test_short_tasks_come_several_at_a_time(job):
    reader = Reader(job)
    assert list(reader.read(1000, 0.001, passes=2)) == [*range(1000)] * 2
    assert len(reader.link.of("get_tasks")) < 100 and len(reader.link.of("end_tasks")) < 100
    assert max(len(one["tasks"]) for one in reader.link.of("end_tasks")) == 64
    assert job.request("status")["tasks"] == {"pass": 1, "todo": 0, "pending": 0, "done": 1000, "failed": 0}


def test_long_tasks_come_one_by_one(job):
    reader = Reader(job)
    for number, _ in enumerate(reader.read(20, 0.6)):
        tasks = job.request("status")["tasks"]
        assert (tasks["pending"], tasks["done"]) == (1, number)


def test_what_is_done_is_reported_within_a_second(job):
    """Also when tasks become slow after many have been taken."""
    reader, ended = Reader(job), []
    for number, _ in enumerate(reader.read(400, 0.001)):
        now = reader.clock.now
        assert job.request("status")["tasks"]["done"] >= sum(now - end > 1.001 for end in ended)
        reader.clock.pass_by(0.4 if number >= 200 else 0.0)
        ended.append(reader.clock.now + 0.001)
    assert reader.log.count("flush") == len(reader.link.of("end_tasks")) > 70


def test_what_is_reported_has_been_flushed(job):
    reader = Reader(job)
    done = 0
    for _ in reader.read(100, 0.01):
        now = job.request("status")["tasks"]["done"]
        if now != done:
            assert reader.log[-2] == "flush"
            done = now


def test_no_trainer_takes_more_than_its_part(job):
    """Half of an even share of what is left, so that all end a pass at the same time."""
    trainers = [job.trainer(key) for key in "abcd"]
    job.request("set_data", chunks=list(range(400)), chunks_per_task=1)
    sizes = []
    while (given := job.request("get_tasks", **trainers[len(sizes) % 4], pass_number=0, most=64))["tasks"]:
        sizes.append(len(given["tasks"]))
    assert sizes[:3] == [50, 43, 38] and sizes[-8:] == [1] * 8 and sum(sizes) == 400


def test_a_batch_of_a_lost_trainer_is_read_by_others(job):
    first, second = Reader(job, 0), Reader(job, 1)
    reading = first.read(100, 0.001)
    for _ in range(50):
        next(reading)
    assert job.request("status")["tasks"]["pending"] > 1
    job.trainer("again", 0)
    tasks = job.request("status")["tasks"]
    assert tasks["pending"] == 0
    rest = list(second.read(100, 0.001))
    assert len(rest) == tasks["todo"] and {*rest, *first.log} >= {*range(100)}
    assert job.request("status")["tasks"] == {"pass": 0, "todo": 0, "pending": 0, "done": 100, "failed": 0}


def test_a_loop_that_was_left_is_continued_by_the_next(job):
    reader = Reader(job)
    for chunk in reader.read(100, 0.3):
        if chunk == 40:
            break
    again = list(reader.read(100, 0.3))
    assert 36 <= again[0] <= 40 and again == list(range(again[0], 100)), "what is not reported is read again"
    assert job.request("status")["tasks"] == {"pass": 0, "todo": 0, "pending": 0, "done": 100, "failed": 0}
    assert list(reader.read(100, 0.3)) == list(range(100)) and job.request("status")["tasks"]["pass"] == 1


def test_what_a_loop_has_left_goes_to_others_when_its_trainer_is_lost(job):
    first, second = Reader(job, 0), Reader(job, 1)
    next(first.read(10, 0.6))
    first.membership.join()
    assert sorted(second.read(10, 0.6)) == list(range(10)) and list(first.read(10, 0.6)) == []
    assert first.log == [0]


def test_two_loops_at_a_time(job):
    reader = Reader(job)
    one = reader.read(10, 0.6)
    assert next(one) == 0
    other = reader.read(10, 0.6)
    assert next(other) == 0
    with pytest.raises(Malformed, match="another loop over batches.. has begun"):
        next(one)
    assert list(other) == list(range(1, 10))


def test_chunks_that_are_too_many_or_not_json(job):
    reading = Reader(job).reading
    for chunks, problem in (
        (range(200_000), "200000 chunks are [0-9]+ bytes of JSON, [0-9]+ are the most: let a chunk stand for more"),
        ([np.int64(3)], "a chunk is not a JSON value: .*int64"),
        ([float("nan")], "a chunk is not a JSON value"),
    ):
        with pytest.raises(Malformed, match=problem):
            next(reading.chunks(chunks, 1, 1, lambda number: None))
    assert list(reading.chunks(range(100_000), 1000, 1, lambda number: None))[-1] == 99_999
