"""Views of a job: reports of its processes, and snapshots."""

import pytest

import paddle_mini as pm
from cluster_jobs import batch, begun, classifier
from coordinators import Asked, ToService
from live_threads import threads
from paddle_mini.cluster import Malformed, TrainerStatus
from paddle_mini.cluster.client import Client
from paddle_mini.cluster.job_settings import JobSettings
from paddle_mini.cluster.protocol import GetJobStatus
from paddle_mini.cluster.servers.server_process import ServerProcess
from paddle_mini.cluster.thread_engine import ThreadEngine
from paddle_mini.cluster.view.watch import Watch, snapshot, watching
from server_calls import Group, W, config


def trained(steps, sees=None):
    _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
    trainer = begun()
    for step in range(steps):
        trainer.run(batch(8 * step, 8 * step + 8), [loss])
    if sees is not None:
        sees(trainer)


# Reports of processes


def test_versions_behind_of_pushes():
    group = Group(1, {"w": (W, config(), False)}, 2)
    for trainer, step, version in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 9)):  # 9 was lost with the previous incarnation
        group.push({"w": W}, trainer, step, version=version)
    group.push({"w": W}, 1, 1, version=0)  # repeated
    assert [group.status()[word] for word in ("version", "behind", "worst_behind")] == [4, 0 + 1 + 2 + 0, 2]


def test_a_server_reports_what_it_does(tmp_path):
    job = Asked(tmp_path, 1, 1)
    settings = JobSettings("job", 1, 1)
    part = ServerProcess(0, settings, str(tmp_path), ToService(job.service), job.clock)
    group = Group(1, {"w": (W, config(), False)}, begin=False)
    group.servers = [part]
    part.tick()
    group.init({"w": W})
    part.rest()
    job.trainer("a")
    part.tick()
    for step in range(4):
        group.push({"w": W}, step=step, incarnation=1, version=0)
    group.pull()
    job.clock.pass_by(settings.heartbeat_seconds)
    part.tick()
    (seen,) = snapshot(job.typed(GetJobStatus()), 5.0).servers
    assert seen.version == 4 and seen.received == 5 * W.nbytes and seen.given == W.nbytes
    assert seen.received_per_second == 4 * W.nbytes and seen.given_per_second == W.nbytes
    assert seen.behind == (0 + 1 + 2 + 3) / 4 and seen.worst_behind == 3
    assert seen.checkpoint == 1 and seen.checkpoint_age >= 0 and seen.checkpoint_errors == 0
    assert seen.silent == 0 and seen.restarts == 0
    job.clock.pass_by(settings.heartbeat_seconds)
    part.tick()
    (seen,) = snapshot(job.typed(GetJobStatus()), 5.0).servers
    assert seen.behind is None and seen.worst_behind == 3 and seen.given_per_second == 0


def test_the_last_report_stays(tmp_path):
    job = Asked(tmp_path)
    job.trainer("a")
    job.heartbeat("trainer", 0, 1, steps=3)
    with pytest.raises(Malformed):
        job.request("ask_save", trainer=0, incarnation=1, directory="", seconds=1)
    assert snapshot(job.typed(GetJobStatus()), 0.0).trainers == (TrainerStatus(0, 0.0, 0, steps=3),)
    job.request("leave", role="trainer", number=0, incarnation=1, report={"steps": 5})
    job.request("leave", role="trainer", number=0, incarnation=1, report={"steps": 7})  # an absent process
    assert snapshot(job.typed(GetJobStatus()), 0.0).trainers == (TrainerStatus(0, None, 0, steps=5),)


def test_beats_are_often_enough_to_watch_and_to_be_alive():
    assert JobSettings("job", 1, 1, lease=0.4).heartbeat_seconds == pytest.approx(0.1)
    assert JobSettings("job", 1, 1, lease=100.0).heartbeat_seconds == 1.0
    assert JobSettings("job", 4000, 1000, lease=100.0).heartbeat_seconds == 5.0
    with pytest.warns(DeprecationWarning, match="use heartbeat_seconds"):
        assert JobSettings("job", 4000, 1000, lease=100.0).beat_seconds == 5.0


# Snapshots


@pytest.mark.parametrize("mode", ["async", "sync", "delta"])
def test_snapshots_of_a_job(mode, tmp_path):
    seen = []

    def saves(trainer):
        pm.cluster.save_model(tmp_path / "models", ["x"], [pm.default_main_program().global_block().var("fc_1.tmp_1")])

    pm.cluster.run(trained, 2, 2, mode, args=(5, saves), directory=tmp_path / "job", on_status=seen.append, status_seconds=0.01)
    last = seen[-1]
    assert [one.number for one in last.trainers] == [0, 1] == [one.number for one in last.servers]
    assert [one.steps for one in last.trainers] == [5, 5] and [one.silent for one in last.trainers] == [None, None]
    assert sum(one.applied for one in last.trainers) == 2 * 2 * 5 and sum(one.saves for one in last.trainers) == 1
    assert list(last.saving) == [str(tmp_path / "models")]
    assert last.saving[str(tmp_path / "models")] == next(one.number for one in last.trainers if one.saves)
    assert last.restarts == 0 and last.tasks["done"] == 0
    assert [one.seconds for one in seen] == sorted(one.seconds for one in seen)
    assert "cluster watch" not in {thread.name for thread in threads()}


def test_one_that_can_not_show_is_given_up(caplog):
    seen = []

    def broken(now):
        seen.append(now)
        raise OSError("the terminal is gone")

    result = pm.cluster.run(trained, 1, 1, args=(5,), on_status=broken, status_seconds=0.001)
    assert len(seen) == 1 and result.counts["applied"] == 5
    assert caplog.text.count("OSError: the terminal is gone") == 1


def test_a_status_that_is_refused_is_told_once(tmp_path, caplog):
    job = Asked(tmp_path)
    watch = Watch(Client(ToService(job.service), "other job"), [pytest.fail])
    watch.look()
    watch.look()
    (message,) = caplog.messages
    assert message.startswith("the status can't be shown: coordinator: the request is for job 'other job'")


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), float("inf")])
def test_seconds_that_are_none(wrong):
    with pytest.raises(Malformed, match="status_seconds"):
        pm.cluster.run(trained, 1, 1, args=(1,), status_seconds=wrong)


def test_watching_ends_with_what_it_watches():
    with pytest.raises(KeyboardInterrupt), watching(Client(ThreadEngine().link(), "job"), [], 100.0):
        raise KeyboardInterrupt
    assert "cluster watch" not in {thread.name for thread in threads()}
