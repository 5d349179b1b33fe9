# The directory of a job disappears while it runs, or the clock jumps: training continues, and nothing that is confirmed is lost.
import shutil

import numpy as np
import pytest

from coordinators import Asked, state
from paddle_mini.cluster import StorageError
from server_calls import BOTH, Group, train
from server_checkpoints import bits, checkpoint, expected, recovered


def test_of_a_coordinator(tmp_path, caplog):
    """The change whose loss it notices fails, and is in the directory when it is repeated, with all others."""
    job = Asked(tmp_path / "job")
    a = job.trainer("a")
    job.server("s")
    shutil.rmtree(tmp_path / "job")
    before = state(job)
    with pytest.raises(StorageError, match="it was removed"):
        job.trainer("b")
    assert state(job) == before and caplog.text.count("it was removed") == 1
    assert job.trainer("b")["trainer"] == 1
    job.request("ask_save", **a, directory="out", seconds=9)
    before = state(job)
    job.restart()
    after = state(job)
    assert after["trainers.present"] == before["trainers.present"] and len(after["trainers.present"]) == 2
    assert after["leases.held"] == before["leases.held"]


def test_of_servers(tmp_path):
    """The next checkpoint is whole, also after one of which only the changes were written."""
    parameters = {**BOTH, "big": (np.zeros((2000, 4), "float32"), BOTH["t"][1], True)}
    group = Group(1, parameters, directory=str(tmp_path / "job"))
    for step in range(3):
        group.push({"big": (np.array([step]), np.ones((1, 4), "float32"))}, step=step)
        base = checkpoint(group)["base"]
    assert base is not None
    shutil.rmtree(tmp_path / "job")
    assert checkpoint(group)["base"] is None
    again = Group(1, parameters, directory=str(tmp_path / "job"), begin=False)
    assert bits(again) == bits(group)


def test_a_file_of_servers_disappears(tmp_path):
    group = Group(1, BOTH, directory=str(tmp_path))
    train(group, 0, 3)
    (tmp_path / checkpoint(group)["file"]).unlink()
    train(group, 3, 4)
    checkpoint(group)
    found, version = recovered(tmp_path)
    assert version == 4 and bits(found) == expected(4)


@pytest.mark.parametrize("jump", [3600.0, -3600.0, 1e9])
def test_a_clock_that_jumps(tmp_path, jump):
    """The time of day only says when checkpoints are written: one more is, and pushes count once as before."""
    now = [1e6]
    group = Group(1, BOTH, directory=str(tmp_path), clock=lambda: now[0], checkpoint_seconds=600)
    server = group.servers[0]
    train(group, 0, 2)
    now[0] += jump
    numbers = []
    for step in range(2, 5):
        train(group, step, step + 1)
        server.tick()
        numbers.append(server.status().checkpoints.newest["number"])
    assert numbers == [2, 2, 2] and bits(group) == expected(5)
    assert group.status()["pushes"] == {"sent": 5, "applied": 5, "dropped": 0, "repeated": 0, "waiting": 0}
    now[0] += 600
    server.tick()
    assert recovered(tmp_path)[1] == 5
