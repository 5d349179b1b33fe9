# Checkpoints of servers: whoever dies, whatever a disk does, a whole one is found, and training goes on. C1-C14.
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

from one_parameter import KINDS
from paddle_mini.cluster import ClusterError, NotInitialised, StorageError, WrongJob, WrongShape
from paddle_mini.cluster.convert import read_parameters
from paddle_mini.cluster.server import ParameterServer
from paddle_mini.cluster.server_checkpoint import MAGIC, verified
from paddle_mini.cluster.settings import ServerSettings
from server_calls import AVERAGES, BOTH, JOB, W, Group, call, config, generator, gradients, train


def bits(group):
    return {name: value.tobytes() for name, value in group.pull().items()}


def checkpoint(group, index=0, **fields):
    return call(group.servers[index], "checkpoint", **fields)[0]["checkpoint"]


def files(directory, pattern="*"):
    return sorted(path.name for path in Path(directory).glob(pattern))


def expected(step):
    """Bits of BOTH after so many steps without an interruption."""
    if not EXPECTED:
        THROUGH.append(Group(1, BOTH))
    for number in range(len(EXPECTED), step + 1):
        EXPECTED.append(bits(THROUGH[0]))
        train(THROUGH[0], number, number + 1)
    return EXPECTED[step]


EXPECTED, THROUGH = [], []


class Killed(BaseException):
    """The process ends here."""


class Disk:
    """The calls that change or read a disk, by name; the call number `at` fails. at: -1, none."""

    CALLS = ("open", "write", "fsync", "rename", "unlink", "listdir", "mkdir")

    def __init__(self, monkeypatch, at=-1, failure=None):
        self.calls, self.at, self.failure = [], at, failure
        for name in self.CALLS:
            monkeypatch.setattr(os, name, self.counted(name, getattr(os, name)))

    def counted(self, name, function):
        def called(*arguments, **more):
            names = [os.path.basename(word) if isinstance(word, str) else word for word in arguments[:2]]
            self.calls.append((name, *names))
            if len(self.calls) - 1 == self.at:
                raise self.failure
            return function(*arguments, **more)
        return called


def test_what_is_written(tmp_path):
    """C1, C3, C9, C10: the file, what is said about it, and that only the one before it stays."""
    group = Group(2, BOTH, directory=str(tmp_path))
    (tmp_path / "server-0-notes.txt").write_text("mine")
    copy = f"server-0-{'c' * 32}.ckpt"
    shutil.copy(next(tmp_path.glob("server-0-*.ckpt")), tmp_path / copy)
    (tmp_path / f"server-0-{'a' * 32}.ckpt").write_text("of somebody else")
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
    """C2: a file's bytes, its name, what is said about it, and then the old one."""
    group = Group(1, BOTH, directory=str(tmp_path))
    for step in range(2):
        train(group, step, step + 1)
        disk = Disk(monkeypatch)
        name = checkpoint(group)["file"]
        monkeypatch.undo()
    changes = [call for call in disk.calls if call[0] in ("fsync", "rename", "unlink")]
    kinds = [(call[0], call[-1] if call[0] == "rename" else "") for call in changes]
    assert kinds == [("fsync", ""), ("rename", name), ("fsync", ""), ("fsync", ""), ("rename", "server-0.json"),
                     ("fsync", ""), ("unlink", "")]


@pytest.mark.parametrize("failure", [Killed(), OSError(errno.ENOSPC, "No space left on device"),
                                     OSError(errno.EIO, "Input/output error")], ids=repr)
def test_an_end_at_every_step(tmp_path, monkeypatch, failure):
    """C2, C11: whichever call fails, or is the process's last one, a whole checkpoint is left, and training goes on."""
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
    """C2: a process that is killed at any moment, several times."""
    arguments = [sys.executable, *(["-S"] if sys.flags.no_site else []),
                 str(Path(__file__).parents[1] / "server_child.py"), str(tmp_path)]
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


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "Dpsgd"])
@pytest.mark.parametrize("servers", [1, 3])
def test_training_goes_on_to_the_bit(tmp_path, kind, servers):
    """C5, C6: values, optimizers' state, averages, schedules, and configurations are all there."""
    policy = {"lr_policy": "Poly", "poly_lr": {"learning_rate": 0.1, "lr_decay_a": 0.1, "lr_decay_b": 0.5}}
    value = generator("long").standard_normal(30000).astype("float32")
    parameters = {"w": (W, config(kind, averaging=AVERAGES, **policy)),
                  "v": (value, config(kind, **policy), False, kind in ("Lamb", "Lars"))}
    through, broken = Group(servers, parameters), Group(servers, parameters, directory=str(tmp_path))
    for step in range(8):
        given = {"w": gradients(step)["w"], "v": generator(f"v {step}").standard_normal(30000).astype("float32")}
        for group in (through, broken):
            group.push(given, step=step)
        if step == 3:
            lives = [checkpoint(broken, index)["uuid"] for index in range(servers)]
            for index in range(servers):
                broken.restart(index)
                status = broken.status(index)
                assert status["initialised"] and status["checkpoints"]["recovered"]["uuid"] == lives[index]
    assert bits(broken) == bits(through)
    for index, server in enumerate(broken.servers):
        for block in broken.blocks(index):
            for which in (0, 1) if block.parameter == "w" else ():
                asked = {"blocks": [["w", block.number]], "average": which}
                averages = [call(one, "pull", **asked)[1][0].tobytes() for one in (server, through.servers[index])]
                assert averages[0] == averages[1]


def test_pushes_count_once_across_a_restart(tmp_path):
    """What the checkpoint has is not applied again, what it has not is."""
    group = Group(1, BOTH, directory=str(tmp_path))
    train(group, 0, 4)
    checkpoint(group)
    train(group, 4, 6)
    before = group.servers[0].life
    group.restart(0)
    reply = group.push(gradients(3), step=3)[0]
    assert reply["repeated"] and reply["life"] != before and bits(group) == expected(4)
    assert "repeated" not in group.push(gradients(4), step=4)[0]
    assert bits(group) == expected(5)
    assert group.status()["pushes"] == {"sent": 5, "applied": 5, "dropped": 0, "repeated": 1, "waiting": 0}


def test_a_step_that_waits_is_not_in_a_checkpoint(tmp_path):
    """Its sender sees another life, and pushes it again."""
    group = Group(1, BOTH, 2, directory=str(tmp_path), mode="sync")
    group.push(gradients(0), trainer=0)
    checkpoint(group)
    group.restart(0)
    assert group.status()["pushes"]["sent"] == 0
    assert "repeated" not in group.push(gradients(0), trainer=0)[0]
    group.push(gradients(0), trainer=1)
    assert bits(group) == expected(1)


def test_when_checkpoints_are_written(tmp_path):
    """C1, C7: the first one with the beginning, then by the clock, also after a restart."""
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
    for now[0], due in ((159.0, 1), (160.0, 2), (160.0, 2), (219.9, 2), (400.0, 3)):
        server.tick()
        assert number() == due
    server = group.restart(0)
    for now[0], due in ((459.0, 3), (461.0, 4)):
        server.tick()
        assert number() == due
    with pytest.raises(StorageError, match="no directory"):
        checkpoint(Group(1, BOTH))


def test_a_disk_that_refuses(tmp_path, caplog):
    """C11: training begins and goes on; each failure is counted, logged, and told to who asked."""
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
    """C12: one block's state at a time, twice."""
    group = Group(1, {f"p{number}": (np.zeros(1 << 18, "float32"), config("Adam")) for number in range(8)},
                  directory=str(tmp_path))
    checkpoint(group)
    tracemalloc.start()
    checkpoint(group)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * (3 << 20) + (1 << 19)


@pytest.fixture
def two(tmp_path):
    """A directory with checkpoints of versions 3 and 4, newest last."""
    group = Group(1, BOTH, directory=str(tmp_path))
    names = []
    for step in range(4):
        train(group, step, step + 1)
        if step >= 2:
            names.append(checkpoint(group)["file"])
    return tmp_path, names


def recovered(directory):
    group = Group(1, BOTH, directory=str(directory), begin=False)
    return group, group.status()["version"] if group.status()["initialised"] else None


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "shorter by one": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"), "empty": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "directory": lambda path: (path.unlink(), path.mkdir()), "pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "link": lambda path: (path.rename(path.parent / "x"), path.symlink_to(path.parent / "x")),
    "zeros": lambda path: path.write_bytes(bytes(2000)),
    "large length": lambda path: path.write_bytes(MAGIC + bytes(5) + b"\1" + path.read_bytes()[len(MAGIC) + 6:]),
    "huge length": lambda path: path.write_bytes(MAGIC + b"\xff" * 8 + path.read_bytes()[len(MAGIC) + 8:]),
    "flipped": lambda path: path.write_bytes(path.read_bytes()[:-500] + b"flipped" + path.read_bytes()[-493:]),
    "other version": lambda path: path.write_bytes(path.read_bytes().replace(b"checkpoint 1", b"checkpoint 2")),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_one(two, caplog, damage):
    """C4: the one before it is taken, and that is logged; with no whole one the server waits for a beginning."""
    directory, (older, newer) = two
    DAMAGES[damage](directory / newer)
    group, version = recovered(directory)
    assert version == 3 and bits(group) == expected(3)
    assert damage == "gone" or newer in caplog.text
    train(group, 3, 5)
    checkpoint(group)
    assert recovered(directory)[1] == 5
    for path in filter(Path.is_file, directory.glob("server-0-*.ckpt")):
        DAMAGES[damage](path)
    group, version = recovered(directory)
    assert version is None
    group.init({name: given[0] for name, given in BOTH.items()})
    assert recovered(directory)[1] == 0


def test_every_byte_counts(two):
    """A file is refused with any bit of it changed, and cut off anywhere."""
    directory, (_, newer) = two
    data, path = (directory / newer).read_bytes(), str(directory / newer)
    with open(path, "r+b", buffering=0) as file:
        for at in reversed(range(len(data))):
            os.pwrite(file.fileno(), bytes([data[at] ^ 1 << at % 8]), at)
            with pytest.raises(ClusterError), verified(path):
                pass
            os.truncate(path, at)
            with pytest.raises(ClusterError), verified(path):
                pass
            os.pwrite(file.fileno(), data[at:], at)


def test_without_what_is_said_about_it(two):
    """The .json is not needed."""
    directory, _ = two
    (directory / "server-0.json").write_text("{")
    assert recovered(directory)[1] == 4


def test_another_job_and_another_number_of_servers(two):
    """C14, and a second job in the same directory."""
    directory, _ = two
    before = files(directory)
    with pytest.raises(WrongJob, match="is of job 'job', this is job 'another'"):
        ParameterServer(0, ServerSettings("another", 1, 1), str(directory))
    with pytest.raises(WrongJob, match="is of one of 1 servers, this job has 2"):
        ParameterServer(0, ServerSettings(JOB, 2, 1), str(directory))
    assert files(directory) == before


def test_a_server_that_went_on_elsewhere(two):
    """Who was replaced writes nothing over what its successor has written, and removes nothing of another job."""
    directory, _ = two
    first, second = recovered(directory)[0], recovered(directory)[0]
    train(second, 4, 6)
    name = checkpoint(second)["file"]
    with pytest.raises(ClusterError, match="written by another process"):
        checkpoint(first)
    assert name in files(directory) and recovered(directory)[1] == 6
    other = ParameterServer(0, ServerSettings("another", 1, 1), str(directory / "another"))
    call(other, "finish_init", token=1, count=0, job="another")
    alien = shutil.copy(*(directory / "another").glob("*.ckpt"), directory)
    checkpoint(second)
    assert os.path.exists(alien)


def test_parameters_of_all_servers(tmp_path):
    """C13, C14: what several servers hold together, and a job of another number of servers that begins with it."""
    value = generator("big").standard_normal((200, 300)).astype("float32")
    parameters = {**BOTH, "big": (value, config()), "none": (np.zeros((0, 4), "float64"), config())}
    group = Group(4, parameters, directory=str(tmp_path))
    for step in range(3):
        group.push({**gradients(step), "big": value}, step=step)
    for index in range(4):
        checkpoint(group, index, timestamp=5)
    found, pulled = read_parameters(str(tmp_path)), group.pull()
    assert list(found) == sorted(parameters) and all(found[name].tobytes() == pulled[name].tobytes() for name in found)
    assert found["none"].shape == (0, 4) and found["none"].dtype == np.float64
    other = Group(3, {name: (found[name], *given[1:]) for name, given in parameters.items()})
    assert bits(other) == bits(group)
    with pytest.raises(ClusterError, match="average"):
        read_parameters(str(tmp_path), average=0)
    checkpoint(group, 2, timestamp=6)
    with pytest.warns(UserWarning, match="different timestamps: 5, 6"):
        read_parameters(str(tmp_path))
    for path in tmp_path.glob("server-1-*"):
        path.unlink()
    with pytest.raises(StorageError, match="the checkpoint of server 1 of 4 is not in"):
        read_parameters(str(tmp_path))


def test_averages_of_all_servers(tmp_path):
    parameters = {"w": BOTH["w"], "v": (np.ones(20000, "float32"), BOTH["w"][1])}
    group = Group(2, parameters, directory=str(tmp_path))
    for step in range(4):
        group.push({"w": gradients(step)["w"], "v": np.ones(20000, "float32")}, step=step)
    for index in range(2):
        checkpoint(group, index, timestamp=5)
    for which in range(2):
        found, pulled = read_parameters(str(tmp_path), which), group.pull(average=which)
        assert all(found[name].tobytes() == pulled[name].tobytes() for name in parameters)


def test_parameters_that_can_not_be_put_together(two, tmp_path):
    directory, (older, newer) = two
    with pytest.raises(StorageError, match="no checkpoints"):
        read_parameters(str(directory / "nothing"))
    DAMAGES["flipped"](directory / newer)
    with pytest.warns(UserWarning, match=f"{newer}.* is cut off or damaged.*{older}' is taken"):
        assert read_parameters(str(directory))["w"].tobytes() == expected(3)["w"]
    DAMAGES["flipped"](directory / older)
    with pytest.raises(StorageError, match="no checkpoint of server 0 in"):
        read_parameters(str(directory))
    big = {"v": (np.zeros(20000, "float32"), config())}
    first, second = (Group(2, big, directory=str(tmp_path / name), begin=False) for name in ("first", "second"))
    second.plan = [block._replace(server=1 - block.server) for block in second.plan]
    for group in (first, second):
        group.init({"v": big["v"][0]})
    for path in (tmp_path / "second").glob("server-1-*.ckpt"):  # it holds the same half as server 0 of the first
        (tmp_path / "both").mkdir()
        shutil.copy(path, tmp_path / "both")
    for path in (tmp_path / "first").glob("server-0-*.ckpt"):
        shutil.copy(path, tmp_path / "both")
    third = Group(2, {"v": (np.zeros(20001, "float32"), config())}, directory=str(tmp_path / "third"))
    for path in (tmp_path / "third").glob("server-1-*.ckpt"):
        shutil.copytree(tmp_path / "first", tmp_path / "disagree", ignore=shutil.ignore_patterns("server-1*"))
        shutil.copy(path, tmp_path / "disagree")
    assert third.status()["blocks"] == 1
    with pytest.raises(StorageError, match="do not agree about 'v'"):
        read_parameters(str(tmp_path / "disagree"))
    with pytest.warns(UserWarning, match="different timestamps"), pytest.raises(WrongShape, match="'v': after 10000"):
        read_parameters(str(tmp_path / "both"))
