# Checkpoints of servers: when they are written, in which order, and with failing disks.
import errno
import json
import os
import shutil
import subprocess
import sys
import time
import tracemalloc
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from failing_disks import Disk, Killed
from paddle_mini.cluster import NotInitialised, StorageError
from paddle_mini.cluster.servers import checkpoint_file
from paddle_mini.cluster.servers.checkpoint_file import MAGIC
from server_calls import BOTH, JOB, Group, config, generator, train
from server_checkpoints import bits, checkpoint, expected, files, recovered


def test_what_is_written(tmp_path):
    """Checks the file and its report, and that only the previous one remains beside it."""
    group = Group(2, BOTH, directory=str(tmp_path))
    (tmp_path / "server-0-notes.txt").write_text("mine")
    copy = f"server-0-{'c' * 32}.ckpt"
    shutil.copy(next(tmp_path.glob("server-0-*.ckpt")), tmp_path / copy)
    (tmp_path / f"server-0-{'a' * 32}.ckpt").write_text("another program's")
    unknown = {"server-0-notes.txt", f"server-0-{'a' * 32}.ckpt", copy}
    for step in range(4):
        before = json.loads((tmp_path / "server-0.json").read_text())
        train(group, step, step + 1)
        said = checkpoint(group, timestamp=1700000000 * 10**9 + step)
        data = (tmp_path / said["file"]).read_bytes()
        assert said == json.loads((tmp_path / "server-0.json").read_text())
        assert said["checksum"] == sha256(data[:-32]).hexdigest() == data[-32:].hex()
        assert said["bytes"] == len(data) and data.startswith(MAGIC)
        assert said["file"] == f"server-0-{said['uuid']}.ckpt" and said["timestamp"] == 1700000000 * 10**9 + step
        assert (said["job"], said["index"], said["servers"]) == (JOB, 0, 2)
        assert said["previous"] == {**before, "previous": None}
        names = {said["file"], before["file"], "server-0.json", "server-1.json"} | unknown
        assert set(files(tmp_path)) - names == set(files(tmp_path, "server-1-*.ckpt"))
    assert len(files(tmp_path, "server-1-*.ckpt")) == 1


def test_the_order_on_the_disk(tmp_path, monkeypatch):
    """In this order: a file's bytes, its name, its report, and then the removal of the old one."""
    group = Group(1, BOTH, directory=str(tmp_path))
    for step in range(2):
        train(group, step, step + 1)
        disk = Disk(monkeypatch)
        name = checkpoint(group)["file"]
        monkeypatch.undo()
    changes = [call for call in disk.calls if call[0] in ("fsync", "rename", "unlink")]
    kinds = [(call[0], call[-1] if call[0] == "rename" else "") for call in changes]
    assert kinds == [
        ("fsync", ""),
        ("rename", name),
        ("fsync", ""),
        ("fsync", ""),
        ("rename", "server-0.json"),
        ("fsync", ""),
        ("unlink", ""),
    ]


@pytest.mark.parametrize(
    "failure", [Killed(), OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EIO, "Input/output error")], ids=repr
)
def test_an_end_at_every_step(tmp_path, monkeypatch, failure):
    """Whichever call fails, or is the process's last one, a whole checkpoint is left, and training continues."""
    at, seen = 0, set()
    while True:
        directory = tmp_path / str(at)
        group = Group(1, BOTH, directory=str(directory))
        for step in range(4):
            train(group, step, step + 1)
            if step < 3:
                checkpoint(group)
        (directory / f"server-0-{'b' * 32}.ckpt.unfinished").write_text("of one that died")
        disk, told = Disk(monkeypatch, at, failure), "written"
        try:
            checkpoint(group)
        except Killed:
            told = "killed"
        except StorageError as error:
            told = "refused"
            assert "can't" in str(error) and (failure.strerror in str(error))
        finally:
            monkeypatch.undo()
        if len(disk.calls) <= at:
            break
        if told != "killed":
            assert bits(group) == expected(4) and group.status()["checkpoints"]["errors"] == (told == "refused")
            said = json.loads((directory / "server-0.json").read_text())
            if told == "refused" and said["version"] == 3:
                kept = {said["file"], said["previous"]["file"]}
                assert set(files(directory, "*.ckpt")) == kept, "nothing is left of it"
            train(group, 4, 5)
        group.restart(0)
        version = group.status()["version"]
        assert version in (3, 4) and (told != "written" or version == 4)
        assert bits(group) == expected(version)
        train(group, version, 6)
        assert bits(group) == expected(6)
        checkpoint(group)
        assert len(files(directory)) == 3 and files(directory)[-1] == "server-0.json"
        seen.add((told, version))
        at += 1
    killed, refused = {("killed", 3), ("killed", 4)}, {("refused", 3), ("refused", 4), ("written", 4)}
    assert at > 25 and seen == (killed if isinstance(failure, Killed) else refused)


def test_kill(tmp_path):
    """A process that is killed at any moment, several times."""
    arguments = [
        sys.executable,
        *(["-S"] if sys.flags.no_site else []),
        str(Path(__file__).parents[1] / "server_child.py"),
        str(tmp_path),
    ]
    random, version = generator("kill"), 0
    for _ in range(6):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as child:
            for _ in range(random.integers(1, 5)):
                version = int(child.stdout.readline())
            time.sleep(random.uniform(0, 0.01))
            child.kill()
            version = max([version, *map(int, child.stdout.read().split())])
        group, found = recovered(tmp_path)
        assert found >= version and bits(group) == expected(found)


def test_when_checkpoints_are_written(tmp_path):
    """The first one at the initialisation, then by the clock, also after a restart."""
    now = [0.0]
    group = Group(1, BOTH, directory=str(tmp_path), clock=lambda: now[0], checkpoint_seconds=60, begin=False)
    server = group.servers[0]
    now[0] = 100.0
    server.tick()
    with pytest.raises(NotInitialised):
        checkpoint(group)
    assert files(tmp_path) == []
    group.init({name: given[0] for name, given in BOTH.items()})

    def number():
        return json.loads((tmp_path / "server-0.json").read_text())["number"]

    assert number() == 1
    for now[0], due in ((119.9, 1), (120.0, 2), (120.0, 2), (179.9, 2), (400.0, 3)):
        server.tick()
        assert number() == due
    server = group.restart(0)
    for now[0], due in ((419.0, 3), (421.0, 4)):
        server.tick()
        assert number() == due
    with pytest.raises(StorageError, match="no directory"):
        checkpoint(Group(1, BOTH))


def test_a_checkpoint_of_all_servers_stays_the_newest_until_something_changes(tmp_path):
    now = [0.0]
    group = Group(2, BOTH, directory=str(tmp_path), clock=lambda: now[0], checkpoint_seconds=60)
    train(group, 0, 1)
    for index in (0, 1):
        checkpoint(group, index, timestamp=7)
    for now[0], changes in ((100.0, False), (200.0, False), (300.0, True)):
        if changes:
            train(group, 1, 2)
        for server in group.servers:
            server.tick()
        newest = [json.loads((tmp_path / f"server-{index}.json").read_text())["timestamp"] for index in (0, 1)]
        assert (newest != [7, 7]) is changes


def test_servers_write_at_the_same_moments(tmp_path):
    """Trainers wait for each server that writes, so a restarted server writes at the common times."""
    now = [100.0]
    group = Group(2, BOTH, directory=str(tmp_path), clock=lambda: now[0], checkpoint_seconds=60)
    now[0] = 110.0
    group.restart(1)

    def numbers():
        return [json.loads((tmp_path / f"server-{index}.json").read_text())["number"] for index in (0, 1)]

    for now[0], due in ((119.0, [1, 1]), (121.0, [2, 2]), (179.0, [2, 2]), (181.0, [3, 3])):
        for server in group.servers:
            server.tick()
        assert numbers() == due


def test_what_is_left_out_is_named(tmp_path, caplog):
    Group(1, BOTH, directory=str(tmp_path))
    (path,) = tmp_path.glob("*.ckpt")
    whole = path.read_bytes()
    for damaged in (whole[:20], whole.replace(b'"job"', b'"jo\\"'), b""):
        caplog.clear()
        path.write_bytes(damaged)
        assert checkpoint_file.found(str(tmp_path)) == []
        (record,) = caplog.records
        assert path.name in record.getMessage() and record.getMessage().endswith("it is skipped")


def test_a_disk_that_refuses(tmp_path, caplog):
    """Training starts and continues; each failure is counted, logged, and reported to the requester."""
    (tmp_path / "file").write_text("")
    now, directory = [0.0], tmp_path / "directory"
    group = Group(1, BOTH, directory=str(directory), clock=lambda: now[0], begin=False)
    directory.write_text("a file is in its place")
    group.init({name: given[0] for name, given in BOTH.items()})
    now[0] = 601.0
    group.servers[0].tick()
    with pytest.raises(StorageError, match="can't write a checkpoint in .*directory"):
        checkpoint(group)
    found = group.status()["checkpoints"]
    assert found["errors"] == 3 and "can't write a checkpoint" in found["last_error"]
    assert caplog.text.count("can't write a checkpoint") == 2, "the third was told"
    train(group, 0, 1)
    assert bits(group) == expected(1)
    with pytest.raises(StorageError, match="can't read"):
        group.start(0)
    directory.unlink()
    assert checkpoint(group)["version"] == 1 and group.status()["checkpoints"]["newest"]["version"] == 1


def test_memory(tmp_path):
    """One block's state at a time, twice."""
    group = Group(
        1, {f"p{number}": (np.zeros(1 << 18, "float32"), config("Adam")) for number in range(8)}, directory=str(tmp_path)
    )
    checkpoint(group)
    tracemalloc.start()
    checkpoint(group)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * (3 << 20) + (1 << 19)
