"""The model server of examples/serving: replies are those of the predictor, requests share batches, wrong ones are refused."""

import asyncio
import runpy
from pathlib import Path

import numpy as np
import pytest

import paddle_mini as pm

pytest.importorskip("aiohttp")
from aiohttp.test_utils import TestClient, TestServer

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SERVER = runpy.run_path(str(EXAMPLES / "serving/server.py"))
LOAD = runpy.run_path(str(EXAMPLES / "serving/load.py"))


@pytest.fixture
def prefix(tmp_path):
    runpy.run_path(str(EXAMPLES / "embedding/make_model.py"))["main"](tmp_path / "model")
    return str(tmp_path / "model/model")


def serve(prefix, use, **settings):
    """Calls `use` with a client of a server, and returns its result."""
    model = SERVER["Model"](prefix, **settings)

    async def run():
        async with TestClient(TestServer(model.application())) as client:
            return await use(client, model)

    return asyncio.run(run())


def rows(count, seed=0):
    return np.random.default_rng(seed).random((count, 6), dtype="float32")


async def predict(client, array):
    async with client.post("/predict", json={"inputs": {"x": array.tolist()}}) as reply:
        return reply.status, await reply.json()


def test_replies_are_those_of_the_predictor(prefix):
    """Many requests at the same time, of several sizes; they run in fewer batches."""
    predictor = pm.Predictor(prefix)
    requests = [rows(1 + number % 5, number) for number in range(60)]

    async def use(client, model):
        replies = await asyncio.gather(*(predict(client, array) for array in requests))
        return replies, model.batcher.batches

    replies, batches = serve(prefix, use, calls=2, rows=16, wait=0.05)
    for array, (status, reply) in zip(requests, replies):
        assert status == 200
        np.testing.assert_allclose(reply["outputs"][predictor.outputs[0]], predictor(array)[0], atol=1e-6)
    assert batches < len(requests)


WRONG = [
    [],
    {},
    {"inputs": {}},
    {"inputs": {"y": [[0] * 6]}},
    {"inputs": {"x": 1}},
    {"inputs": {"x": "text"}},
    {"inputs": {"x": [[0] * 5]}},
    {"inputs": {"x": [[0] * 6, [0]]}},
    {"inputs": {"x": [[[0] * 6]]}},
]


def test_wrong_requests_do_not_disturb_others(prefix):
    async def use(client, _):
        async def wrong(body):
            async with client.post("/predict", json=body) as reply:
                return reply.status, await reply.json()

        right = [predict(client, rows(2, seed)) for seed in range(len(WRONG))]
        replies = await asyncio.gather(*(wrong(body) for body in WRONG), *right)
        async with client.post("/predict", data=b"{") as reply:
            assert reply.status == 400
        async with client.get("/health") as reply:
            assert (reply.status, await reply.text()) == (200, "ok")
        return replies

    replies = serve(prefix, use, wait=0.05)
    assert [status for status, _ in replies] == [400] * len(WRONG) + [200] * len(WRONG)
    assert all(reply["error"] for _, reply in replies[: len(WRONG)])


def test_a_full_queue_refuses(prefix):
    async def use(client, _):
        replies = await asyncio.gather(*(predict(client, rows(1)) for _ in range(40)))
        return {status for status, _ in replies}

    assert serve(prefix, use, calls=1, rows=1, queued=1) == {200, 503}


def test_the_load_test_counts_every_request(prefix):
    async def use(client, _):
        return await LOAD["measure"](str(client.make_url("")).rstrip("/"), 4, 50)

    times, total = serve(prefix, use)
    assert len(times) == 50 and 0 < max(times) <= total
