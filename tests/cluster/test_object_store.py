# The directory of a job in an object store: fsspec's memory, and a server that speaks S3.
import gc
import logging
import os
import re
import uuid

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import alone, batch, begun, classifier, train, values
from coordinators import Asked, state
from paddle_mini.cli import main
from paddle_mini.cluster import Malformed, StorageError
from paddle_mini.cluster.convert import read_parameters, write_model
from paddle_mini.cluster.object_store import ObjectStore, is_url
from server_calls import BOTH, Group
from server_calls import train as push_steps
from server_checkpoints import bits, checkpoint, expected
from small_model import assert_same_bits
from thorough import thorough

pytest.importorskip("fsspec", reason="fsspec is not installed")


@pytest.fixture(autouse=True)
def _no_folders_for_later_tests():
    """Local folders are removed with what has them, and not while a later test makes disks fail."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def bucket():
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = pytest.importorskip("moto.server", reason="moto is not installed").ThreadedMotoServer(
        "127.0.0.1", port=0, verbose=False
    )
    names = ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION")
    server.start()
    host, port = server.get_host_and_port()
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(zip(names, (f"http://{host}:{port}", "testing", "testing", "us-east-1")))
    import s3fs

    s3fs.S3FileSystem(skip_instance_cache=True).mkdir("jobs")
    yield "s3://jobs"
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    server.stop()


@pytest.fixture(params=["memory", pytest.param("s3", marks=thorough)])
def url(request):
    place = "memory://jobs" if request.param == "memory" else request.getfixturevalue("bucket")
    return f"{place}/{uuid.uuid4().hex}/job"


@pytest.fixture
def memory():
    return f"memory://jobs/{uuid.uuid4().hex}/job"


class Failing:
    """Makes call number `at` of a store's changes fail, before or after its effect."""

    def __init__(self, monkeypatch, at=-1, after=False):
        self.calls = []
        for name in ("put", "write", "remove"):
            monkeypatch.setattr(ObjectStore, name, self.counted(name, getattr(ObjectStore, name), at, after))

    def counted(self, name, function, at, after):
        def called(store, *arguments):
            self.calls.append(name)
            fails = len(self.calls) - 1 == at
            if not fails or after:
                function(store, *arguments)
            if fails:
                raise OSError(5, "the store is away")

        return called


def test_urls():
    assert is_url("s3://bucket/job") and is_url("memory://x") and is_url("gcs://a")
    assert not any(map(is_url, ("job", "/a/b", "c:/x", "a//b", "s3:/bucket", "://x", "s3://")))


def test_a_job_resumes_from_it(url, tmp_path):
    """The state is that of a job that was not interrupted; the commands read it, too."""

    def adam():
        return pm.optimizer.Adam(0.01)

    pm.cluster.run(train, 1, 2, "sync", args=(4, adam), directory=url)
    names = ObjectStore(url).names()
    assert "coordinator.json" in names and "program.pdmodel" in names and not any("unfinished" in name for name in names)
    assert {re.sub("-[0-9a-f]{32}", "", name) for name in names} >= {"server-0.ckpt", "server-1.ckpt", "server-0.json"}
    (again,) = pm.cluster.run(train, 1, 2, "sync", args=(4, adam), directory=url).returned

    def twice():
        _, _, loss = classifier(lambda loss: adam().minimize(loss))
        trainer = begun()
        for step in [*range(4), *range(4)]:
            trainer.run(batch(8 * step, 8 * step + 8), [loss])
        return values()

    assert_same_bits(again, alone(twice))
    found = read_parameters(url)
    assert all(found[name].tobytes() == again[name].tobytes() for name in again)
    assert main(["checkpoint", "verify", url]) == 0
    assert main(["checkpoint", "convert", url, str(tmp_path / "model.pdparams")]) == 0
    assert set(pm.io.load_state(tmp_path / "model.pdparams")) == set(again)


def test_servers_on_another_machine_go_on(url):
    """Each Group has a folder of its own, as a new process has; also from changes to a whole checkpoint."""
    table = np.zeros((2000, 4), "float32")
    parameters = {**BOTH, "big": (table, BOTH["t"][1], True)}
    group = Group(1, parameters, directory=url)
    for step in range(5):
        group.push({"big": (np.array([step, 1999 - step]), np.ones((2, 4), "float32"))}, step=step)
        checkpoint(group)
        other = Group(1, parameters, directory=url, begin=False)
        assert bits(other) == bits(group) and other.status()["version"] == step + 1
    names = [name for name in ObjectStore(url).names() if name.endswith(".ckpt")]
    assert len(names) <= 5
    other.push({"big": (np.array([7]), np.ones((1, 4), "float32"))}, step=9)
    checkpoint(other)
    with pytest.raises(pm.cluster.ClusterError, match="written by another process"):
        checkpoint(group)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_store_that_fails_at_any_step(memory, monkeypatch, after):
    """Training continues; a whole checkpoint is left, the new one or the one before."""
    at, told = 0, set()
    while True:
        url = f"{memory}{at}"
        group = Group(1, BOTH, directory=url)
        push_steps(group, 0, 3)
        checkpoint(group)
        push_steps(group, 3, 4)
        checkpoint(group)
        push_steps(group, 4, 5)
        failing = Failing(monkeypatch, at, after)
        try:
            checkpoint(group)
            told.add("written")
        except StorageError as error:
            told.add("refused")
            assert "the store is away" in str(error)
        monkeypatch.undo()
        if len(failing.calls) <= at:
            break
        found, version = recovered_from(url)
        assert version in (4, 5) and bits(found) == expected(version)
        push_steps(group, 5, 6)
        checkpoint(group)
        found, version = recovered_from(url)
        assert version == 6 and bits(found) == expected(6)
        at += 1
    assert at >= 3 and told == {"written", "refused"}


def recovered_from(url):
    group = Group(1, BOTH, directory=url, begin=False)
    return group, group.status()["version"]


def test_a_damaged_object(memory, caplog):
    group = Group(1, BOTH, directory=memory)
    push_steps(group, 0, 3)
    name = checkpoint(group)["file"]
    store = ObjectStore(memory)
    data = store.read(name)
    store.write(name, data[:-100] + b"x" + data[-99:])
    found, version = recovered_from(memory)
    assert version == 0 and name in caplog.text and bits(found) == expected(0)


def used(job):
    a = job.trainer("a")
    job.trainer("b")
    job.server("s")
    job.request("set_data", chunks=[1, 2, 3], chunks_per_task=1)
    job.request("get_tasks", **a, pass_number=0)
    return a


def test_a_coordinator_goes_on_elsewhere(url):
    """Each reply that it gave holds, of several snapshots and logs."""
    job = Asked(url)
    a = used(job)
    for number in range(3):
        before = state(job)
        other = Asked(url)
        after = state(other)
        unequal = {name for name in before if before[name] != after[name]}
        assert unequal <= {"job.facts", "trainers.counts", "servers.counts"}
        job = other
        job.request("ask_save", **a, directory=f"out {number}", seconds=9)
    logs = [name for name in ObjectStore(url).names() if ".log." in name]
    assert len({name.split(".")[1] for name in logs}) == 1, "those of earlier snapshots are removed"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_what_the_store_refuses_does_not_happen(memory, monkeypatch, after):
    job = Asked(memory)
    used(job)
    for at in range(3):
        before = state(job)
        with monkeypatch.context() as patch:
            Failing(patch, 0, after)
            with pytest.raises(StorageError, match="the store is away"):
                job.trainer(f"new {at}")
            assert state(job) == before
        reply = job.trainer(f"new {at}")
        other = Asked(memory)
        assert reply["trainer"] in {number for number, _ in state(other)["trainers.present"]}
        job = other


def test_damaged_and_missing_objects_of_a_coordinator(memory):
    job = Asked(memory)
    used(job)
    store = ObjectStore(memory)
    parts = [name for name in store.names() if ".log." in name]
    whole = {name: store.read(name) for name in store.names()}
    assert len(parts) > 3
    for name, data in [(parts[1], None), (parts[1], b"x" * 30), ("coordinator.json", b"{}"), (parts[0], None)]:
        store.remove(name) if data is None else store.write(name, data)
        with pytest.raises(StorageError, match="damaged|missing"):
            Asked(memory)
        for one, before in whole.items():
            store.write(one, before)
    Asked(memory)


def test_refusals(monkeypatch, tmp_path, caplog):
    with pytest.raises(Malformed, match="is an object store, collective mode needs a directory"):
        pm.cluster.run(train, 1, mode="collective", args=(1, None), directory="memory://job")
    with pytest.raises(StorageError, match="can't use 'nothing://job'"):
        pm.cluster.run(train, 1, args=(1, None), directory="nothing://job")
    with pytest.raises(StorageError, match="no checkpoints"):
        read_parameters("memory://jobs/nothing")
    with pytest.raises(pm.Error, match="program.pdmodel"):
        write_model("memory://jobs/nothing", tmp_path / "model", ["y"])
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with caplog.at_level(logging.WARNING), pytest.raises(StorageError, match="needs fsspec: pip install 'paddle_mini.store.'"):
        pm.cluster.run(train, 1, args=(1, None), directory="memory://job")


def test_a_host_that_does_not_answer(bucket, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(StorageError, match="can't use 's3://jobs/away'"):
        pm.cluster.run(train, 1, args=(1, None), directory="s3://jobs/away")
