"""paddle-mini checkpoint: list, verify, convert."""

import json
import pathlib

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import begun
from paddle_mini.cli import main
from paddle_mini.cluster.convert import read_parameters
from paddle_mini.cluster.servers.server_checkpoint import ServerCheckpoints
from server_checkpoints import forge


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    directory = tmp_path_factory.mktemp("job")

    def train():
        w = pm.layers.create_parameter([300, 70], "float32")
        loss = pm.layers.mean(pm.layers.square(w))
        pm.optimizer.ParameterAverage(pm.optimizer.Momentum(0.5, 0.9), pm.averaging.Uniform()).minimize(loss)
        pm.Executor().run(pm.default_startup_program())
        trainer = pm.cluster.join()
        for _ in range(3):
            trainer.run({}, [loss])

    pm.cluster.run(train, trainers=1, servers=2, directory=directory)
    return directory


@pytest.fixture
def call(capsys):
    def call(*words, status=0):
        found = main(["checkpoint", *map(str, words)])
        out, err = capsys.readouterr()
        assert found == status, err
        return out if status == 0 or not err else err

    return call


def test_list(job, call):
    lines = call("list", job).splitlines()
    assert {line.split("  ")[0] for line in lines} == {"server 0 of 2", "server 1 of 2"}
    assert sorted(line.split()[-1] for line in lines) == sorted(path.name for path in job.glob("*.ckpt"))


def test_json(job, call):
    listed = json.loads(call("list", job, "--json"))
    assert sorted(pathlib.Path(one["path"]).name for one in listed) == sorted(path.name for path in job.glob("*.ckpt"))
    assert {(one["server"], one["servers"], one["job"]) for one in listed} == {(0, 2, "job"), (1, 2, "job")}
    assert json.loads(call("verify", job, "--json")) == [{**one, "damage": None} for one in listed]


def test_verify(job, call):
    assert all(line.endswith("  whole") for line in call("verify", job).splitlines())


def test_verify_finds_a_damaged_one(job, call, tmp_path):
    for path in job.glob("*.ckpt"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    newest = pathlib.Path(call("list", tmp_path).splitlines()[0].split()[-1])
    data = bytearray((tmp_path / newest).read_bytes())
    data[-100] ^= 1
    (tmp_path / newest).write_bytes(data)
    with pytest.warns(UserWarning, match="damaged"):
        assert "damaged" in call("verify", tmp_path, status=1)


@pytest.mark.parametrize("suffix", [".pdparams", ".safetensors"])
@pytest.mark.parametrize("average", [None, 0])
def test_convert(job, call, tmp_path, suffix, average):
    out = tmp_path / f"model{suffix}"
    assert "1 parameters" in call("convert", job, out, *(() if average is None else ("--average", average)))
    wanted = read_parameters(str(job), average)
    state = pm.io.load_state(out)
    assert list(state) == list(wanted) and all(np.array_equal(state[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize(
    "words, expected",
    [
        (["list", "nowhere"], "no checkpoints of servers in 'nowhere'"),
        (["verify", "nowhere"], "no checkpoints of servers in 'nowhere'"),
        (["convert", "nowhere", "a.txt"], "'a.txt': the file name must end with .pdparams, .safetensors or .pdmodel"),
        (["convert", "nowhere", "a.pdmodel"], "a .pdmodel needs --fetch NAME"),
        (["convert", "nowhere", "a.pdparams", "--feed", "x"], "take neither --fetch nor --feed"),
        (["convert", "nowhere", "a.pdmodel", "--fetch", "y"], "nowhere/program.pdmodel"),
        (["convert", "nowhere", "a.pdparams"], "no checkpoints of servers in 'nowhere'"),
    ],
)
def test_mistakes(call, words, expected):
    assert expected in call(*words, status=1)


def test_the_directory_of_a_job_in_collective_mode(call, tmp_path):
    def trains():
        pm.optimizer.SGD(0.5).minimize(pm.layers.mean(pm.layers.create_parameter([3], "float32")))
        begun().run()

    pm.cluster.run(trains, mode="collective", directory=tmp_path)
    for words in (["list", tmp_path], ["verify", tmp_path], ["convert", tmp_path, tmp_path / "a.pdparams"]):
        assert "'trainers' in it has those of collective mode, which CheckpointManager restores" in call(*words, status=1)


def test_an_average_that_is_not_there(job, call, tmp_path):
    assert "average" in call("convert", job, tmp_path / "a.pdparams", "--average", 3, status=1)


@pytest.mark.parametrize(
    "facts",
    [
        {"timestamp": "yesterday"},
        {"timestamp": 1 << 80},
        {"timestamp": None},
        {"servers": None},
        {"servers": "two"},
        {"version": [1]},
        {"job": 7},
        {"blocks": None},
        {"base": 5},
        {"base": {}},
    ],
)
def test_facts_that_no_server_has_written(job, call, tmp_path, caplog, facts):
    """With a valid checksum: the file is named and skipped, and a server begins from an older one."""
    for path in job.glob("server-1-*.ckpt"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    listed = [line.split()[-1] for line in call("list", tmp_path).splitlines()]
    forge(tmp_path / listed[0], **facts)
    assert [line.split()[-1] for line in call("list", tmp_path).splitlines()] == listed[1:]
    assert listed[0] in caplog.text and "it is skipped" in caplog.text
    call("verify", tmp_path, status=1)  # server 0 is missing
    checkpoints = ServerCheckpoints(str(tmp_path), "job", 1, 2)
    found, _ = checkpoints.recover()
    assert found["uuid"] in listed[1]
