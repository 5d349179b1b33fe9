"""Jobs and their disks: one that fills, a read-only one, files of another version."""

import errno
import json
import subprocess
import threading
import time

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import alone, batch, begun, classifier, train, values
from cluster_moments import TIMEOUT, at, die, reach
from paddle_mini.cluster import StorageError, TrainerFailed, WrongVersion
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.convert import read_parameters
from paddle_mini.cluster.coordinator import coordinator_file
from paddle_mini.cluster.protocol import AskSave, GetJobStatus
from paddle_mini.cluster.servers.checkpoint_file import blocks, found, verified
from paddle_mini.cluster.thread_engine import ThreadEngine
from small_model import assert_same_bits


@pytest.fixture
def small_disk(tmp_path):
    """A directory on a disk of 4 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no disk can be mounted here: {made.stderr.strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)


def fill(disk):
    """Fills the disk."""
    with open(disk / "filler", "ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC


def errors(engine):
    """Number of checkpoints that each server could not write, as the job's coordinator shows it."""
    servers = Client(engine.link(), "job").once("coordinator", GetJobStatus()).servers.values()
    return [row.report.get("checkpoint_errors", 0) for row in servers]


def adam():
    return pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.01), pm.averaging.Uniform())


def filling(moment, steps):
    """Trains by data tasks, which the coordinator writes to disk; the disk fills before step 5. What is left of the last
    page of the coordinator's log is not enough for the next change."""
    _, _, loss = classifier(lambda loss: adam().minimize(loss))
    trainer = begun()
    for step in trainer.batches(list(range(steps)), 4):
        if step == 5:
            reach(moment)
            trainer._process.membership.request(AskSave, directory="d" * (1 << 14), seconds=1.0)
        trainer.run(batch(8 * step, 8 * step + 8), [loss])
    trainer.pull()
    return values()


@pytest.mark.parametrize("dies", [False, True])
def test_training_goes_on_when_a_disk_is_full_for_a_while(dies, engine, small_disk, tmp_path):
    """It loses no data, and the failures are counted; also if the coordinator dies then, and can't restart."""
    job_engine, moment, full = engine(), tmp_path / "moment", threading.Event()

    def fill_and_empty():
        full.set()
        deadline = time.monotonic() + TIMEOUT
        while min(errors(job_engine)) == 0:  # a checkpoint that ends frees the space of an older one
            fill(small_disk / "job")
            assert time.monotonic() < deadline, "no checkpoint is refused"
        if dies:
            die(job_engine, "coordinator")
        threading.Timer(0.3, (small_disk / "job" / "filler").unlink).start()

    with at(moment, fill_and_empty):
        result = pm.cluster.run(filling, 1, 2, "sync", job_engine, small_disk / "job", [moment, 20], checkpoint_seconds=0.05)
    assert full.is_set() and all(one["checkpoints"]["errors"] > 0 for one in result.servers)
    assert all("No space left on device" in one["checkpoints"]["last_error"] for one in result.servers)
    expected = alone(train, 20, adam)
    assert_same_bits(result.returned[0], expected)
    assert_same_bits(read_parameters(small_disk / "job"), expected)
    assert result.counts["applied"] == 2 * 20 and result.counts["lost"] == 0


def test_a_disk_that_stays_full_is_told_of(engine, small_disk, tmp_path):
    """The job continues when there is space again."""
    moment, arguments = tmp_path / "moment", [tmp_path / "moment", 8]
    with (
        at(moment, lambda: fill(small_disk / "job")),
        pytest.raises(TrainerFailed, match="StorageError: coordinator: .*No space left on device"),
    ):
        pm.cluster.run(filling, 1, 2, "sync", engine(), small_disk / "job", arguments, timeout=0.5)
    (small_disk / "job" / "filler").unlink()
    result = pm.cluster.run(filling, 1, 2, "sync", engine(), small_disk / "job", arguments)
    assert result.counts["applied"] == result.counts["sent"] > 0
    assert_same_bits(read_parameters(small_disk / "job"), result.returned[0])


@pytest.mark.parametrize("mode", ["async", "delta"])
def test_a_trainer_that_fails_leaves_what_was_trained(mode, engine, tmp_path):
    """The data tasks that were done are not done again, so their updates must be in the directory."""

    def counts(fails):
        w = pm.layers.create_parameter([1], "float32", name="w", default_initializer=pm.initializer.Constant(0.0))
        pm.optimizer.SGD(1.0).minimize(-1.0 * w)
        trainer = begun()
        for chunk in trainer.batches(range(20), 4):
            if chunk == 12 and fails:
                raise ValueError("what was read is wrong")
            trainer.run()
        trainer.pull()
        return pm.global_scope().get("w").item()

    with pytest.raises(TrainerFailed, match="what was read is wrong"):
        pm.cluster.run(counts, 1, 1, mode, engine(), tmp_path, [True])
    assert pm.cluster.run(counts, 1, 1, mode, engine(), tmp_path, [False]).returned[0] >= 20.0


def test_a_server_that_is_away_when_a_trainer_fails(tmp_path, caplog):
    """The error of the trainer is raised, and what could not be written is logged."""
    job_engine = ThreadEngine()

    def fails():
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.create_parameter([3], "float32")))
        begun()
        job_engine.kill("server 1")
        raise ValueError("what was read is wrong")

    with pytest.raises(TrainerFailed, match="what was read is wrong"):
        pm.cluster.run(fails, 1, 2, "sync", job_engine, tmp_path, timeout=0.1)
    assert any("not all servers have written a checkpoint at the end of the job: server 1" in one for one in caplog.messages)


def test_a_directory_that_can_not_be_written(engine, small_disk):
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)

    def saves():
        x, logits, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
        trainer = begun()
        with pytest.raises(StorageError, match="can't save to .*Read-only file system"):
            pm.cluster.save_model(small_disk / "models", [x], [logits])
        return np.isfinite(trainer.run(batch(0, 8), [loss])[0]).all()

    assert pm.cluster.run(saves, 1, 1, "async", engine()).returned == [True]
    with pytest.raises(StorageError, match="can't use .*Read-only file system"):
        pm.cluster.run(train, 1, 1, "async", engine(), small_disk / "job", [1, adam])


def test_pulls_and_checkpoints_during_training_are_of_one_version(engine, tmp_path):
    """All elements of each block move alike, so that they are the same at any time."""
    job, moment = tmp_path / "job", tmp_path / "moment"

    def moving():
        w = pm.layers.create_parameter([300, 1000], "float32", name="w", default_initializer=pm.initializer.Constant(0.0))
        pm.optimizer.Momentum(0.1, 0.9).minimize(pm.layers.reduce_sum(w))
        trainer, torn = begun(), 0
        reach(moment)
        for _ in range(60):
            trainer.run()
            values = pm.global_scope().get("w").reshape(2, -1)
            torn += (values != values[:, :1]).any()
        return torn

    def read(seen, stop):
        while not stop.is_set():
            for one in found(str(job)):
                try:
                    with verified(one.path) as (file, facts):
                        (block,) = (held.values() for held in blocks(file, facts))
                except StorageError:  # it was removed meanwhile
                    continue
                seen[one.server, facts["version"]] = (block == block[0]).all()

    seen, stop = {}, threading.Event()
    reader = threading.Thread(target=read, args=[seen, stop])
    with at(moment, reader.start):
        result = pm.cluster.run(moving, 2, 2, "async", engine(), job, checkpoint_seconds=0.01)
    stop.set()
    reader.join()
    assert result.returned == [0, 0]
    assert all(seen.values()) and len(seen) > 4


def test_what_another_version_has_written(engine, tmp_path):
    """It is reported, and not changed."""
    path = tmp_path / coordinator_file.NAME
    pm.cluster.run(train, 1, 1, "async", engine(), tmp_path, [1, adam])
    facts = json.loads(path.read_bytes())["coordinator"]
    path.write_bytes(coordinator_file._spelled({**facts, "format": 3}))
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    with pytest.raises(WrongVersion, match="has format 3, only 1 and 2 are supported"):
        pm.cluster.run(train, 1, 1, "async", engine(), tmp_path, [1, adam])
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "first, second, problem",
    [
        ("delta", "async", "server 0 .* are of mode delta, this job is of mode async, in which servers optimize"),
        ("sync", "delta", "server 0 .* are of mode sync, this job is of mode delta, in which trainers optimize"),
        ("async", "collective", "has checkpoints of servers, which collective mode has not"),
        ("collective", "sync", "has checkpoints of trainers, from which only collective mode resumes"),
    ],
)
def test_the_directory_of_a_job_in_whose_mode_others_optimize(first, second, problem, engine, tmp_path):
    expected = pm.cluster.run(train, mode=first, engine=engine(), directory=tmp_path, args=(2, adam)).returned[0]
    with pytest.raises(pm.cluster.WrongJob, match=problem):
        pm.cluster.run(train, mode=second, engine=engine(), directory=tmp_path, args=(0, adam))
    again = pm.cluster.run(train, mode=first, engine=engine(), directory=tmp_path, args=(0, adam)).returned[0]
    assert_same_bits(again, expected)


def test_a_directory_belongs_to_one_program(tmp_path):
    """Also where another one has parameters of the same names and numbers of elements."""

    def trains(name, shape, steps):
        w = pm.layers.create_parameter(shape, "float32", name=name)
        pm.optimizer.SGD(0.5).minimize(pm.layers.mean(w))
        trainer = begun()
        for _ in range(steps):
            trainer.run()
        trainer.pull()
        return values()

    expected = pm.cluster.run(trains, directory=tmp_path, args=("w", [4, 3], 2)).returned[0]
    program = (tmp_path / "program.pdmodel").read_bytes()
    for name, shape, problem in (
        ("w", [3, 4], r"WrongShape: .* in which 'w' is \[4, 3\] float32, not \[3, 4\] float32"),
        ("v", [4, 3], "UnknownParameter: .* another program, without block 0 of 'v'"),
    ):
        with pytest.raises(TrainerFailed, match=problem):
            pm.cluster.run(trains, directory=tmp_path, args=(name, shape, 1))
    assert (tmp_path / "program.pdmodel").read_bytes() == program
    assert_same_bits(pm.cluster.run(trains, directory=tmp_path, args=("w", [4, 3], 0)).returned[0], expected)


@pytest.mark.parametrize("mode", ["async", "collective"])
def test_a_job_whose_data_was_all_read_says_so(mode, tmp_path, recwarn):
    def trains(passes):
        _, _, loss = classifier(lambda loss: adam().minimize(loss))
        trainer, read = begun(), []
        for chunk in trainer.batches([0, 1, 2], passes=passes):
            trainer.run(batch(8 * chunk, 8 * chunk + 8), [loss])
            read.append(chunk)
        return read

    def read_and_warned(passes, **where):
        recwarn.clear()
        read = pm.cluster.run(trains, mode=mode, args=(passes,), **where).returned[0]
        return read, [str(one.message) for one in recwarn if "trainers got no data" in str(one.message)]

    assert read_and_warned(1, directory=tmp_path) == ([0, 1, 2], [])
    read, warned = read_and_warned(1, directory=tmp_path)
    assert read == [] and len(warned) == 1 and str(tmp_path) in warned[0] and "More passes continue" in warned[0]
    assert read_and_warned(2, directory=tmp_path) == ([0, 1, 2], [])
    assert read_and_warned(1, directory=tmp_path / "other") == ([0, 1, 2], [])
    assert read_and_warned(1) == ([0, 1, 2], [])
