# A model that runs, made from the directory of a job: its program and the checkpoints of its servers.
import logging
import os

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import INPUTS, batch, begun, classifier, values
from paddle_mini.cli import main
from paddle_mini.cluster import StorageError
from paddle_mini.cluster.convert import read_parameters, write_model, write_program


def train(batch_norm=False):
    """Returns the names of the logits and of a table's rows, and the parameters."""

    def minimize(loss):
        average = pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.02), pm.averaging.Uniform())
        average.minimize(pm.layers.elementwise_add(loss, pm.layers.mean(more)))

    ids = pm.layers.data("ids", [-1, 1], dtype="int64")
    more = pm.layers.embedding(ids, [50, 2], param_attr=pm.ParamAttr(name="table"))
    if batch_norm:
        more = pm.layers.batch_norm(more)
    _, logits, loss = classifier(minimize)
    trainer = begun()
    for step in range(4):
        trainer.run({**batch(8 * step, 8 * step + 8), "ids": np.array([[step], [7]])}, [loss])
    trainer.pull()
    return logits.name, more.name, values()


def outputs(path, feeds):
    with pm.scope_guard(pm.Scope()):
        exe = pm.Executor()
        program, names, fetches = pm.io.load_inference_model(path, exe)
        found = {name: pm.global_scope().get(name) for name in pm.global_scope().names()}
        return names, exe.run(program, {name: feeds[name] for name in names}, fetches), found


FEEDS = {"x": np.random.RandomState(1).randn(5, INPUTS).astype("float32"), "ids": np.array([[3], [49], [7], [0], [1]])}


@pytest.mark.parametrize("mode", ["sync", "delta"])
def test_a_model_that_runs(tmp_path, capsys, mode):
    ((logits, more, trained),) = pm.cluster.run(train, 1, 2, mode, directory=tmp_path / "job").returned
    words = ["checkpoint", "convert", str(tmp_path / "job"), str(tmp_path / "model.pdmodel"), "--fetch"]
    assert main([*words, logits]) == 0
    assert capsys.readouterr().out.endswith(f"computes {logits} from x\n")
    names, (found,), parameters = outputs(tmp_path / "model", FEEDS)
    assert names == ["x"] and set(parameters) == {name for name in trained if name.startswith("fc")}
    first, bias, second, bias2 = (trained[f"fc_{layer}.{kind}_0"] for layer in (0, 1) for kind in "wb")
    np.testing.assert_allclose(found, np.tanh(FEEDS["x"] @ first + bias) @ second + bias2, rtol=1e-4, atol=1e-5)
    assert main([*words, more, "--fetch", logits, "--feed", "ids", "--feed", "x"]) == 0
    names, (rows, again), _ = outputs(tmp_path / "model", FEEDS)
    assert names == ["ids", "x"] and again.tobytes() == found.tobytes()
    assert rows.reshape(5, 2).tobytes() == trained["table"][FEEDS["ids"].ravel()].tobytes()


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_servers_that_a_push_has_nothing_for(tmp_path, mode, recwarn):
    """They have other versions in mode async, and one of them has no block at all: nothing is wrong with that."""

    def rows():
        ids = pm.layers.data("ids", [-1, 1], dtype="int64")
        looked_up = pm.layers.embedding(ids, [15000, 2], is_sparse=True, param_attr=pm.ParamAttr(name="table"))
        pm.optimizer.SGD(0.5).minimize(pm.layers.mean(looked_up))
        trainer = begun()
        for _ in range(3):
            trainer.run({"ids": np.array([[0]])})
        trainer.pull()
        return values()

    result = pm.cluster.run(rows, 1, 4, mode, directory=tmp_path)
    assert sorted(one["blocks"] for one in result.servers) == [0, 1, 1, 1]
    found = read_parameters(str(tmp_path))
    assert found["table"].tobytes() == result.returned[0]["table"].tobytes()
    assert not recwarn.list


def test_an_average(tmp_path):
    ((logits, _, trained),) = pm.cluster.run(train, 1, 2, "sync", directory=tmp_path / "job").returned
    write_model(str(tmp_path / "job"), tmp_path / "average", [logits], average=0)
    _, _, parameters = outputs(tmp_path / "average", FEEDS)
    assert all(parameters[name].tobytes() != trained[name].tobytes() for name in parameters)


def test_what_is_not_there_is_named(tmp_path):
    ((_, more, _),) = pm.cluster.run(train, 1, 2, "sync", directory=tmp_path / "job", args=(True,)).returned
    job = str(tmp_path / "job")
    with pytest.raises(StorageError, match="servers don't have 'batch_norm_0.w_.', which the model needs: save_model"):
        write_model(job, tmp_path / "model", [more])
    with pytest.raises(pm.ProgramError, match="'nothing'"):
        write_model(job, tmp_path / "model", ["nothing"])
    with pytest.raises(pm.ProgramError, match="x"):
        write_model(job, tmp_path / "model", ["fc_0.tmp_0"], feeds=["ids"])
    path = tmp_path / "job" / "program.pdmodel"
    data = path.read_bytes()
    path.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
    with pytest.raises(pm.ProgramError, match="program.pdmodel"):
        write_model(job, tmp_path / "model", ["fc_0.tmp_0"])
    path.unlink()
    with pytest.raises(pm.Error, match="program.pdmodel"):
        write_model(job, tmp_path / "model", ["fc_0.tmp_0"])
    assert os.listdir(tmp_path) == ["job"]


def test_a_job_trains_without_a_place_for_its_program(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        write_program(str(tmp_path / "nowhere"), pm.Program())
    assert "no model can be made from checkpoints" in caplog.text
