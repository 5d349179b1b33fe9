# Servers that resume from a checkpoint: to the bit, once, and from a whole one.
import os
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from one_parameter import KINDS
from paddle_mini.cluster import ClusterError, Stale, WrongJob, WrongVersion
from paddle_mini.cluster.servers.checkpoint_file import verified
from paddle_mini.cluster.servers.server import ParameterServer
from paddle_mini.cluster.servers.settings import ServerSettings
from server_calls import AVERAGES, BOTH, JOB, Group, W, call, config, generator, gradients, train
from server_checkpoints import DAMAGES, bits, checkpoint, expected, files, recovered


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "Dpsgd"])
@pytest.mark.parametrize("servers", [1, 3])
def test_training_goes_on_to_the_bit(tmp_path, kind, servers):
    """Values, optimizers' state, averages, schedules, and configurations are all restored."""
    policy = {"lr_policy": "Poly", "poly_lr": {"learning_rate": 0.1, "lr_decay_a": 0.1, "lr_decay_b": 0.5}}
    value = generator("long").standard_normal(30000).astype("float32")
    parameters = {
        "w": (W, config(kind, averaging=AVERAGES, **policy)),
        "v": (value, config(kind, **policy), False, kind in ("Lamb", "Lars")),
    }
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
    """Pushes in the checkpoint are not applied again; the others are."""
    group = Group(1, BOTH, directory=str(tmp_path))
    train(group, 0, 4)
    checkpoint(group)
    train(group, 4, 6)
    before = group.servers[0].life
    group.restart(0)
    reply = group.push(gradients(3), step=3)[0]
    assert reply["repeated"] and reply["life"] != before and bits(group) == expected(4)
    assert not group.push(gradients(4), step=4)[0]["repeated"]
    assert bits(group) == expected(5)
    assert group.status()["pushes"] == {"sent": 5, "applied": 5, "dropped": 0, "repeated": 1, "waiting": 0}


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_push_that_is_in_the_parameters_of_an_initialiser_is_not_applied_again(mode):
    """A server restarts without a checkpoint, and gets the parameters of a trainer that knew this push."""
    group = Group(1, BOTH, mode=mode)
    replies = [group.push(gradients(step), step=step, token=1, version=step)[0] for step in (0, 1)]
    assert [(reply["token"], reply["version"]) for reply in replies] == [(1, 1), (1, 2)]
    values = group.pull()
    group.restart(0)
    group.init(values, token=2, version=2)
    with pytest.raises(Stale, match="step 1"):
        group.push(gradients(1), step=1, token=1, version=1)
    for name, value in group.pull().items():
        assert value.tobytes() == values[name].tobytes()
    assert group.push(gradients(2), step=2, token=2, version=2)[0]["version"] == 3
    assert group.status()["pushes"] == {"sent": 2, "applied": 1, "dropped": 1, "repeated": 0, "waiting": 0}


def test_a_step_that_waits_is_not_in_a_checkpoint(tmp_path):
    """Its sender sees another incarnation, and pushes it again."""
    group = Group(1, BOTH, 2, directory=str(tmp_path), mode="sync")
    group.push(gradients(0), trainer=0)
    checkpoint(group)
    group.restart(0)
    assert group.status()["pushes"]["sent"] == 0
    assert not group.push(gradients(0), trainer=0)[0]["repeated"]
    group.push(gradients(0), trainer=1)
    assert bits(group) == expected(1)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_one(two, caplog, damage):
    """The previous one is used, and that is logged; without a whole one the server waits for an initialisation."""
    directory, (_, newer) = two
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
    """A file is rejected with any bit of it changed, and truncated anywhere."""
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


def test_more_than_the_blocks(two):
    """A correct checksum is not enough."""
    directory, (_, newer) = two
    data = (directory / newer).read_bytes()[:-32] + b"more"
    (directory / newer).write_bytes(data + sha256(data).digest())
    assert recovered(directory)[1] == 3


def test_without_what_is_said_about_it(two):
    """The .json is not needed."""
    directory, _ = two
    (directory / "server-0.json").write_text("{")
    assert recovered(directory)[1] == 4


def test_another_job_and_another_number_of_servers(two):
    """A second job in the same directory."""
    directory, _ = two
    before = files(directory)
    with pytest.raises(WrongJob, match="is of job 'job', this is job 'another'"):
        ParameterServer(0, ServerSettings("another", 1, 1), str(directory))
    with pytest.raises(WrongJob, match="is of one of 1 servers, this job has 2"):
        ParameterServer(0, ServerSettings(JOB, 2, 1), str(directory))
    assert files(directory) == before


def test_another_version(two):
    """A whole one is not overwritten by a new initialisation."""
    directory, (older, _) = two
    data = (directory / older).read_bytes().replace(b"checkpoint 1", b"checkpoint 3")
    (directory / older).write_bytes(data[:-32] + sha256(data[:-32]).digest())
    before = files(directory)
    with pytest.raises(WrongVersion, match="'paddle_mini server checkpoint 3', another version than this one"):
        recovered(directory)
    assert files(directory) == before


def test_a_server_that_went_on_elsewhere(two):
    """A replaced server does not overwrite its successor's files, and does not remove files of another job."""
    directory, _ = two
    first, second = recovered(directory)[0], recovered(directory)[0]
    train(second, 4, 6)
    name = checkpoint(second)["file"]
    with pytest.raises(ClusterError, match="written by another process"):
        checkpoint(first)
    assert name in files(directory) and recovered(directory)[1] == 6
    other = ParameterServer(0, ServerSettings("another", 1, 1), str(directory / "another"))
    call(other, "finish_init", token=1, count=0, job="another")
    other.rest()
    alien = shutil.copy(*(directory / "another").glob("*.ckpt"), directory)
    checkpoint(second)
    assert os.path.exists(alien)
