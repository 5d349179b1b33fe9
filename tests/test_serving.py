"""The model server of examples/serving: replies are those of the predictor, requests share batches, wrong ones are refused; a
server that is stopped answers first, and another one takes its place."""

import asyncio
import json
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
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


def test_numbers_that_json_lacks_are_null(tmp_path):
    x = pm.layers.data("x", [-1, 2])
    y, z = pm.layers.log(x), pm.layers.cast(x, "bfloat16")
    pm.io.save_inference_model(tmp_path / "model", [x], [y, z])

    async def use(client, model):
        async with client.post("/predict", json={"inputs": {"x": [[0, 1]]}}) as reply:
            return reply.status, await reply.text()

    status, text = serve(str(tmp_path / "model"), use)
    outputs = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))["outputs"]
    assert status == 200 and outputs == {y.name: [[None, 0.0]], z.name: [[0.0, 1.0]]}


WRONG = [
    [],
    {},
    {"inputs": {}},
    {"inputs": {"y": [[0] * 6]}},
    {"inputs": {"x": 1}},
    {"inputs": {"x": "text"}},
    {"inputs": {"x": [[0] * 5]}},
    {"inputs": {"x": [[0] * 6, [0]]}},
    {"inputs": {"x": [[[0] * 7]]}},
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


@pytest.fixture
def sentences(tmp_path):
    """A model of sequences with an output for each row and one for each element, and an input of rows."""
    words, weight = pm.layers.data("words", [-1], "int64", lod_level=1), pm.layers.data("weight", [-1, 1])
    vectors = pm.layers.embedding(words, [20, 3])
    of_rows = pm.layers.elementwise_mul(pm.layers.sequence_pool(vectors, "sum"), weight)
    pm.Executor().run(pm.default_startup_program())
    pm.io.save_inference_model(tmp_path / "m", [words, weight], [of_rows, pm.layers.softmax(vectors)])
    return str(tmp_path / "m")


def test_sequences_share_batches(sentences):
    predictor, random = pm.Predictor(sentences), np.random.default_rng(0)
    requests = []
    for number in range(30):
        words = [random.integers(0, 20, random.integers(1, 9)).tolist() for _ in range(1 + number % 3)]
        requests.append({"words": words, "weight": [[float(row)] for row in range(len(words))]})

    async def use(client, model):
        async def one(inputs):
            async with client.post("/predict", json={"inputs": inputs}) as reply:
                return reply.status, await reply.json()

        wrong = [one({"words": [[1, 2]], "weight": [[1], [2]]}), one({"words": [1, 2], "weight": [[1], [2]]})]
        return await asyncio.gather(*map(one, requests), *wrong), model.batcher.batches

    replies, batches = serve(sentences, use, rows=16, wait=0.05)
    assert batches < len(requests) and [status for status, _ in replies] == [200] * 30 + [400] * 2
    for inputs, (_, reply) in zip(requests, replies):
        lengths = [len(row) for row in inputs["words"]]
        words = pm.LoDTensor(np.concatenate(inputs["words"]), [[0, *np.cumsum(lengths).tolist()]])
        expected = predictor({"words": words, "weight": np.array(inputs["weight"], "float32")})
        for name, values in zip(predictor.outputs, expected):
            np.testing.assert_allclose(np.reshape(reply["outputs"][name], values.shape), values, atol=1e-6)


@pytest.mark.parametrize("rate", [None, 300])
def test_the_load_test_counts_every_request(sentences, rate):
    async def use(client, _):
        return await LOAD["measure"](str(client.make_url("")).rstrip("/"), 4, 50, rate)

    times, total = serve(sentences, use)
    assert len(times) == 50 and 0 < max(times) <= total


def test_the_load_test_fails_if_a_request_does(prefix):
    async def use(client, model):
        model.feeder = None
        with pytest.raises(Exception, match="500"):
            await LOAD["measure"](str(client.make_url("")).rstrip("/"), 1, 3)

    serve(prefix, use)


class Started:
    """A server in a process of its own."""

    def __init__(self, prefix, port, log):
        words = [sys.executable, EXAMPLES / "serving/server.py", prefix, "--port", str(port), "--wait-ms", "20"]
        self.url, self.log = f"http://127.0.0.1:{port}", log
        with open(log, "ab") as file:
            self.process = subprocess.Popen([str(word) for word in words], stdout=file, stderr=file)
        while True:
            try:
                if urllib.request.urlopen(f"{self.url}/health", timeout=30).read() == b"ok":
                    return
            except OSError:
                assert self.process.poll() is None, Path(log).read_text()
                time.sleep(0.05)

    def predict(self, array):
        request = urllib.request.Request(f"{self.url}/predict", json.dumps({"inputs": {"x": array.tolist()}}).encode())
        with urllib.request.urlopen(request, timeout=30) as reply:
            (values,) = json.load(reply)["outputs"].values()
        return np.array(values)

    def stop(self, number):
        self.process.send_signal(number)
        return self.process.wait(30)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def test_a_request_without_its_body_does_not_keep_a_server(prefix, tmp_path):
    port = free_port()
    server = Started(prefix, port, tmp_path / "log")
    with socket.create_connection(("127.0.0.1", port)) as half:
        half.sendall(b"POST /predict HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n")
        urllib.request.urlopen(f"{server.url}/health", timeout=30).close()  # what was sent before has been read
        assert server.stop(signal.SIGTERM) == 0


def test_a_server_is_stopped_and_another_takes_its_port(prefix, tmp_path):
    """SIGTERM while requests are pending: each is answered, or its connection is refused. After SIGKILL the port is free
    too."""
    port = free_port()
    server, (expected,) = Started(prefix, port, tmp_path / "log"), pm.Predictor(prefix)(rows(2))
    answered, refused, wrong = [], [], []

    def right():
        return np.abs(server.predict(rows(2)) - expected).max() < 1e-6

    def client():
        while not refused and not wrong:
            try:
                answered.append(right())
            except urllib.error.HTTPError as error:
                wrong.append(error)
            except (urllib.error.URLError, ConnectionError) as error:
                refused.append(error)

    threads = [threading.Thread(target=client) for _ in range(6)]
    for thread in threads:
        thread.start()
    while len(answered) < 20:
        time.sleep(0.01)
    assert server.stop(signal.SIGTERM) == 0
    for thread in threads:
        thread.join()
    assert all(answered) and not wrong
    server = Started(prefix, port, tmp_path / "log")
    assert right()
    assert server.stop(signal.SIGKILL) == -signal.SIGKILL
    server = Started(prefix, port, tmp_path / "log")
    assert right()
    assert server.stop(signal.SIGINT) == 0
    assert "Traceback" not in (tmp_path / "log").read_text(), (tmp_path / "log").read_text()
