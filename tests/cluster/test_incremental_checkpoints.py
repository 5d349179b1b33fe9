# Incremental checkpoints: after a whole one, the rows of tables that changed; each resumes to the bit.
import errno
import json
import os
import shutil

import numpy as np
import pytest

from failing_disks import Disk, Killed
from paddle_mini.cli import main
from paddle_mini.cli.verify import verify
from paddle_mini.cluster import StorageError
from paddle_mini.cluster.convert import read_parameters
from paddle_mini.cluster.servers.checkpoint_file import CHANGES, MAGIC
from paddle_mini.cluster.servers.checkpoint_writer import in_thread
from server_calls import Group, config, generator
from server_checkpoints import bits, checkpoint

TABLE = generator("table").standard_normal((1000, 8)).astype("float32")
SMALL = generator("small").standard_normal(5).astype("float32")
PARAMETERS = {
    "t": (TABLE, config("Adam", averaging=[{"scheme": "exponential", "decay": 0.9}]), True),
    "s": (SMALL, config("Adam")),
}


def train(group, begin, end):
    for step in range(begin, end):
        random = generator(f"step {step}")
        rows = random.choice(1000, 6, replace=False), random.standard_normal((6, 8)).astype("float32")
        group.push({"t": rows, "s": random.standard_normal(5).astype("float32")}, step=step)


@pytest.fixture(scope="module")
def expected():
    """Bits after so many steps without an interruption."""
    group, found = Group(1, PARAMETERS), []
    for step in range(30):
        found.append(bits(group))
        train(group, step, step + 1)
    return found


def begun(directory, steps=2):
    """A server whose table has been updated by rows, so that its next checkpoint begins a series."""
    group = Group(1, PARAMETERS, directory=str(directory))
    train(group, 0, steps)
    return group


def recovered(directory):
    group = Group(1, PARAMETERS, directory=str(directory), begin=False)
    return group, group.status()["version"] if group.status()["initialised"] else None


def is_whole(path):
    begin = path.read_bytes()[: len(MAGIC)]
    assert begin in (MAGIC, CHANGES)
    return begin == MAGIC


def series(directory, count, group=None, step=2):
    """Checkpoints of a step each; their files."""
    group, found = group or begun(directory), []
    for number in range(step, step + count):
        train(group, number, number + 1)
        found.append(directory / checkpoint(group)["file"])
    return group, found


def test_only_the_rows_that_changed_are_written(tmp_path, expected):
    group, (whole, *changes) = series(tmp_path, 4)
    assert is_whole(whole) and not any(is_whole(path) for path in changes if path.exists())
    report = json.loads((tmp_path / "server-0.json").read_text())
    assert report["base"] == whole.name[len("server-0-") : -len(".ckpt")] and report["previous"]["base"] == report["base"]
    row = 8 * 4 * 5 + 8  # values, two moments, an average in two arrays and its stamp
    assert report["bytes"] < 18 * row + 3000 < whole.stat().st_size / 10
    for _ in range(2):
        group, version = recovered(tmp_path)
        assert version == 6 and bits(group) == expected[6]
    train(group, 6, 9)
    assert bits(group) == expected[9], "also the optimizer's state was restored"
    assert is_whole(tmp_path / checkpoint(group)["file"]), "a process begins with a whole one"


def test_after_some_changes_a_whole_one_is_written(tmp_path, expected):
    group, paths = series(tmp_path, 1)
    kinds = [is_whole(paths[0])]
    for step in range(3, 21):
        _, (path,) = series(tmp_path, 1, group, step)
        kinds.append(is_whole(path))
        assert recovered(tmp_path)[1] == step + 1
    assert kinds == [True, *[False] * 15, True, False, False]
    many = np.arange(600), np.ones((600, 8), "float32")
    group.push({"t": many}, step=21)
    assert is_whole(tmp_path / checkpoint(group)["file"]), "most rows have changed"


def test_whichever_file_is_lost_a_checkpoint_is_left(tmp_path, expected, caplog):
    """For every state of the directory while two series are written."""
    group = begun(tmp_path / "job")
    for step in range(2, 24):
        train(group, step, step + 1)
        checkpoint(group)
        paths = sorted((tmp_path / "job").glob("*.ckpt"))
        assert len(paths) <= 5
        for path in paths if step in (3, 4, 5, 18, 19, 20) else ():
            shutil.copytree(tmp_path / "job", tmp_path / "copy")
            data = path.read_bytes()
            (tmp_path / "copy" / path.name).write_bytes(data[:-100] + bytes([data[-100] ^ 1]) + data[-99:])
            caplog.clear()
            other, version = recovered(tmp_path / "copy")
            assert version is not None and bits(other) == expected[version]
            if version != step + 1:
                assert path.name in caplog.text and "trying the previous checkpoint" in caplog.text
            train(other, version, version + 1)
            checkpoint(other)
            assert recovered(tmp_path / "copy")[1] == version + 1
            shutil.rmtree(tmp_path / "copy")


def test_a_lost_whole_one_is_named(tmp_path, caplog):
    """By servers, by the conversion and by the commands."""
    _, (whole, *_, newest) = series(tmp_path, 3)
    whole.unlink()
    assert recovered(tmp_path)[1] == 0, "that of the initialisation"
    assert f"{newest.name}' has changes only: can't read '{whole}'" in caplog.text
    with pytest.warns(UserWarning, match="' has changes only: .*is taken"):
        assert read_parameters(str(tmp_path))["t"].tobytes() == TABLE.tobytes()
    found = verify(newest)
    assert found.protected and whole.name in found.damage


def test_another_file_in_the_place_of_a_whole_one(tmp_path, caplog):
    _, (whole, *_) = series(tmp_path / "job", 3)
    _, (other, *_) = series(tmp_path / "other", 1)
    shutil.copy(other, whole)
    assert recovered(tmp_path / "job")[1] == 0 and "another file than at that time" in caplog.text


def test_conversion_and_verification(tmp_path, expected, capsys):
    _, (*_, newest) = series(tmp_path, 4)
    found = read_parameters(str(tmp_path))
    assert {name: value.tobytes() for name, value in found.items()} == expected[6]
    assert verify(newest).fact == "SHA-256 at its end, and of the file that it is relative to"
    assert main(["checkpoint", "verify", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["of changes" in line for line in lines] == [True, True, False, False]


@pytest.mark.parametrize("failure", [Killed(), OSError(errno.ENOSPC, "No space left on device")], ids=repr)
def test_an_end_at_every_step(tmp_path, monkeypatch, failure, expected):
    at, seen = 0, set()
    while True:
        directory = tmp_path / str(at)
        group, _ = series(directory, 3)
        train(group, 5, 6)
        disk, told = Disk(monkeypatch, at, failure), "written"
        try:
            checkpoint(group)
        except Killed:
            told = "killed"
        except StorageError:
            told = "refused"
        finally:
            monkeypatch.undo()
        if len(disk.calls) <= at:
            break
        if told != "killed":
            series(directory, 1, group, 6)
        else:
            group.restart(0)
            version = group.status()["version"]
            assert version in (5, 6) and bits(group) == expected[version]
            series(directory, 7 - version, group, version)
        other, version = recovered(directory)
        assert version == 7 and bits(other) == expected[7]
        seen.add(told)
        shutil.rmtree(directory)
        at += 1 if told == "killed" else 3
    assert at > 20 and seen >= ({"killed"} if isinstance(failure, Killed) else {"refused", "written"})


def test_a_whole_one_that_fails(tmp_path, monkeypatch, expected):
    """The next one is not relative to it, nor to the one before."""
    group, _ = series(tmp_path, 1)
    many = np.arange(600), np.ones((600, 8), "float32")
    group.push({"t": many}, step=3)
    Disk(monkeypatch, 6, OSError(errno.EIO, "Input/output error"))
    with pytest.raises(StorageError):
        checkpoint(group)
    monkeypatch.undo()
    assert is_whole(tmp_path / checkpoint(group)["file"])
    _, (path,) = series(tmp_path, 1, group, 4)
    assert not is_whole(path) and bits(recovered(tmp_path)[0]) == bits(group)


def test_pushes_while_changes_are_written(tmp_path, monkeypatch, expected):
    group, _ = series(tmp_path, 2)
    server = group.servers[0]
    server._writer._start = in_thread
    step, write = [4], os.write

    def pushing(descriptor, data):
        if step[0] < 10:
            train(group, step[0], step[0] + 1)
            step[0] += 1
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", pushing)
    server._begin_checkpoint(server._writer)
    server.rest()
    monkeypatch.undo()
    other, version = recovered(tmp_path)
    assert version == 4 and bits(other) == expected[4] and group.status()["version"] == 10
    path = tmp_path / json.loads((tmp_path / "server-0.json").read_text())["file"]
    assert not is_whole(path)


def test_parameters_of_another_initialiser(tmp_path):
    """Nothing of the first ones is in a checkpoint of the second ones."""
    group = Group(1, PARAMETERS, directory=str(tmp_path))
    values = {"t": TABLE * 2, "s": SMALL * 2}
    group.init(values, token=2)
    assert bits(recovered(tmp_path)[0]) == {name: value.tobytes() for name, value in values.items()}
