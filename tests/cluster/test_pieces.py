# Whole parameters are pulled in messages of a limited size, whatever the size of a parameter.
import os

import numpy as np
import pytest

import paddle_mini as pm
from cluster_jobs import batch, begun, classifier, values
from paddle_mini.cluster import Malformed, WrongShape
from paddle_mini.cluster.thread_engine import ThreadEngine
from paddle_mini.cluster.trainers import pieces
from raw_messages import fields_of
from server_calls import BOTH, Group, call, train
from small_model import assert_same_bits

LIMIT = 4096


class Weighing(ThreadEngine):
    """The bytes of arrays in each reply to a pull that is not for a step."""

    def __init__(self):
        super().__init__()
        self.pulled = []

    def post(self, request, respond, timeout):
        def weigh(answer):
            if fields_of(request.header).get("parts") and isinstance(answer, tuple):
                self.pulled.append(sum(array.nbytes for array in answer[1]))
            respond(answer)

        super().post(request, weigh, timeout)


def saving(optimizer, directory):
    x, logits, loss = classifier(lambda loss: optimizer().minimize(loss))
    ids = pm.layers.data("ids", [-1, 1], dtype="int64")
    table = pm.layers.embedding(ids, [3000, 2], is_sparse=True, param_attr=pm.ParamAttr(name="table"))
    pm.optimizer.Adagrad(0.1).minimize(pm.layers.reduce_sum(table))
    trainer = begun()
    for step in range(5):
        trainer.run({**batch(8 * step, 8 * step + 8), "ids": np.array([[step], [2999 - step]])}, [loss])
    path = pm.cluster.save_model(directory, [x, ids], [logits, table])
    trainer.pull()
    return path, values()


def test_the_default_limit():
    assert pieces.MESSAGE_BYTES <= 64 * 10**6 * 1.05


@pytest.mark.parametrize("averages", [False, True])
def test_a_model_is_saved_in_pieces(tmp_path, monkeypatch, averages):
    """It is that of a job with large messages."""

    def optimizer():
        adam = pm.optimizer.Adam(0.02)
        return pm.optimizer.ParameterAverage(adam, pm.averaging.Uniform()) if averages else adam

    found = []
    for name, limit in (("large", pieces.MESSAGE_BYTES), ("small", LIMIT)):
        monkeypatch.setattr(pieces, "MESSAGE_BYTES", limit)
        engine = Weighing()
        ((path, trained),) = pm.cluster.run(saving, 1, 2, "sync", engine, args=(optimizer, tmp_path / name)).returned
        with pm.scope_guard(pm.Scope()):
            pm.io.load_inference_model(os.path.join(path, "model"), pm.Executor())
            saved = {one: pm.global_scope().get(one) for one in pm.global_scope().names()}
        found.append((trained, saved))
        if limit == LIMIT:
            assert max(engine.pulled) <= LIMIT < max(value.nbytes for value in trained.values()) / 10
            assert sum(engine.pulled) >= 2 * sum(value.nbytes for value in trained.values())
    assert_same_bits(found[0][0], found[1][0])
    assert_same_bits(found[0][1], found[1][1])
    assert "table" in found[0][1]


@pytest.mark.parametrize("average", [None, 0, 1])
def test_parts_of_blocks(average):
    """Dense parameters and tables; parts of nothing too."""
    parameters = {"w": BOTH["w"], "t": BOTH["t"]} if average is None else {"w": BOTH["w"]}
    group = Group(1, parameters)
    train(group, 0, 3) if average is None else group.push({"w": BOTH["w"][0]})
    for name in parameters:
        (whole,) = call(group.servers[0], "pull", blocks=[[name, 0]], average=average)[1]
        for begin, end in ((0, len(whole)), (3, 7), (5, 5), (len(whole), len(whole))):
            (part,) = call(group.servers[0], "pull", blocks=[[name, 0]], parts=[[begin, end]], average=average)[1]
            assert part.shape == whole[begin:end].shape and part.tobytes() == whole[begin:end].tobytes()


@pytest.mark.parametrize("parts", [[[0, 21]], [[3, 2]], [[0, 1], [1, 2]], [[-1, 2]], [[0]], [[0, 2**62]], "x"], ids=str)
def test_parts_that_are_not_there(parts):
    with pytest.raises(Malformed):
        call(Group(1, BOTH).servers[0], "pull", blocks=[["t", 0]], parts=parts)


def test_an_array_of_another_shape_is_refused():
    (piece,) = pieces.cut(pm.cluster.ParameterInfo("w", (2,), "float32"), pm.cluster.Block("w", 0, 0, 2, 0), None)
    with pytest.raises(WrongShape, match="server 0 gave .1. float64 of 'w', not .2. float32"):
        piece.checked(np.zeros(1))
