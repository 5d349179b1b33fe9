# Conversion of the checkpoints of several servers.
import shutil

import numpy as np
import pytest

from paddle_mini.cluster import ClusterError, StorageError, WrongShape
from paddle_mini.cluster.convert import read_parameters
from server_calls import BOTH, Group, config, generator, gradients
from server_checkpoints import DAMAGES, bits, checkpoint, expected


def test_parameters_of_all_servers(tmp_path):
    """The state that several servers hold together, and a job with another number of servers that starts from it."""
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
    averages = read_parameters(str(tmp_path), average=1)
    assert [name for name in found if averages[name].tobytes() != found[name].tobytes()] == ["w"], "others are not averaged"
    with pytest.raises(ClusterError, match="average"):
        read_parameters(str(tmp_path), average=2)
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


def test_parameters_without_averages(tmp_path):
    Group(1, {"w": (np.ones(20, "float32"), config())}, directory=str(tmp_path))
    with pytest.raises(ClusterError, match="no parameter in '.*' has an average"):
        read_parameters(str(tmp_path), average=0)


def test_parameters_that_can_not_be_put_together(two, tmp_path):
    directory, (older, newer) = two
    with pytest.raises(StorageError, match="no checkpoints"):
        read_parameters(str(directory / "nothing"))
    DAMAGES["flipped"](directory / newer)
    with pytest.warns(UserWarning, match=f"{newer}.* is truncated or damaged.*{older}' is taken"):
        assert read_parameters(str(directory))["w"].tobytes() == expected(3)["w"]
    DAMAGES["flipped"](directory / older)
    with pytest.raises(StorageError, match="no checkpoint of server 0 in"):
        read_parameters(str(directory))
    big = {"v": (np.zeros(20000, "float32"), config())}
    first, second = (Group(2, big, directory=str(tmp_path / name), begin=False) for name in ("first", "second"))
    second.plan = [block._replace(server=1 - block.server) for block in second.plan]
    for group in (first, second):
        group.init({"v": big["v"][0]})
    for path in (tmp_path / "second").glob("server-1-*.ckpt"):  # it has the same half as server 0 of the first
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


def test_checkpoints_of_jobs_with_other_numbers_of_servers(tmp_path):
    """For example, a file left by an earlier job."""
    for servers in (2, 3):
        Group(servers, BOTH, directory=str(tmp_path / str(servers)))
    shutil.copytree(tmp_path / "2", tmp_path / "both")
    shutil.copy(*(tmp_path / "3").glob("server-2-*.ckpt"), tmp_path / "both")
    with pytest.raises(StorageError, match="differ in 'servers': 2, 3"):
        read_parameters(str(tmp_path / "both"))
