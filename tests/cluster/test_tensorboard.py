"""TensorBoard scalars of a job, read by TensorBoard itself."""

import sys

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import paddle_mini as pm
from cluster_jobs import batch, begun, classifier
from paddle_mini.cluster import ClusterError, ServerStatus, Snapshot, TrainerStatus
from paddle_mini.cluster.view.tensorboard import SERVER_SCALARS, TRAINER_SCALARS, TensorBoard


def scalars(folder):
    """{tag: [(step, value), ...]}"""
    read = EventAccumulator(str(folder))
    read.Reload()
    return {tag: [(event.step, event.value) for event in read.Scalars(tag)] for tag in read.Tags()["scalars"]}


def trained(steps):
    _, _, loss = classifier(lambda loss: pm.optimizer.SGD(0.1).minimize(loss))
    trainer = begun()
    for step in trainer.batches(list(range(steps))):
        trainer.run(batch(8 * step, 8 * step + 8), [loss])


def test_snapshots_become_scalars(tmp_path):
    tasks = {"pass": 0, "todo": 1, "pending": 0, "done": 2, "failed": 1}
    trainer = TrainerStatus(0, 0.1, 0, 10, 2.5, 20, 19, 1, 3)
    server = ServerStatus(1, 0.1, 2, 7, 100, 8, 800.0, 4, 400.0, 1.5, 4, 6, 30.0, 0.25, 1)
    first = Snapshot(1.0, (trainer,), (server,), tasks, {}, 0)
    with TensorBoard(tmp_path) as write:
        write(first)
        write(first._replace(seconds=2.0, tasks={**tasks, "done": 3}))  # processes have reported nothing new
        write(Snapshot(3.0, (trainer._replace(steps=15, silent=None),), (server._replace(behind=None, version=8),), tasks, {}, 0))
    found = scalars(tmp_path)
    assert set(found) == {
        *(f"trainer_0/{name}" for name in TRAINER_SCALARS),
        "job/tasks_done",
        "job/tasks_failed",
        *(f"server_1/{name}" for name in SERVER_SCALARS),
    }
    assert found["trainer_0/steps_per_second"] == [(10, 2.5), (15, 2.5)]
    assert found["trainer_0/dropped"] == [(10, 1), (15, 1)] and found["trainer_0/saves"] == [(10, 3), (15, 3)]
    assert found["server_1/received_per_second"] == [(7, 800), (8, 800)]
    assert found["server_1/behind"] == [(7, 1.5)] and found["server_1/worst_behind"] == [(7, 4), (8, 4)]
    assert found["server_1/checkpoint_seconds"] == [(7, 0.25), (8, 0.25)]
    assert found["server_1/restarts"] == [(7, 2), (8, 2)] and found["server_1/checkpoint_errors"][0] == (7, 1)
    assert found["job/tasks_done"] == [(1, 2), (2, 3), (3, 2)] and found["job/tasks_failed"][0] == (1, 1)


def test_scalars_of_a_job(tmp_path):
    pm.cluster.run(trained, 2, 1, args=(6,), tensorboard=tmp_path / "logs")
    found = scalars(tmp_path / "logs")
    assert found["trainer_0/steps"][-1][1] + found["trainer_1/steps"][-1][1] == 6
    assert found["job/tasks_done"][-1][1] == 6 and "server_0/version" in found


def test_without_its_library_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ClusterError, match=r"pip install 'paddle_mini\[tensorboard\]'"):
        pm.cluster.run(trained, 1, 1, args=(1,), tensorboard=tmp_path / "logs", directory=tmp_path / "job")
    pm.cluster.run(trained, 1, 1, args=(1,), directory=tmp_path / "job")  # the directory is free again


def test_a_file_is_no_directory(tmp_path):
    (tmp_path / "notes").write_text("a")
    with pytest.raises(ClusterError, match="notes' is a file; give a directory"):
        TensorBoard(tmp_path / "notes")
