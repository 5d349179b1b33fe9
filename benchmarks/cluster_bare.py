# Two trainers and two servers that exchange the messages of a wide & deep step and do nothing else, over bare transports.
"""Runs for benchmarks/cluster.py, which first writes the messages' shapes to SHAPES: over Ray's calls, over pyzmq by local
sockets, by TCP, and by TCP with CURVE, and over gRPC."""

from __future__ import annotations

import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from cluster_job import POOL, Message, Timing, build, rate
from environments import FOLDER
from worker import Run, serve

SHAPES = FOLDER / "cluster_messages.json"
TABLE_ROWS = 500_000
"""Rows of a table on each of two servers, which hold one half each."""
SPAWN = multiprocessing.get_context("spawn")

Arrays = list[np.ndarray]
Ask = Callable[[list[Arrays]], Any]
"""Sends each server its arrays, and returns when all have replied."""


def random_ids(count: int) -> np.ndarray:
    return np.sort(np.random.default_rng(count).permutation(TABLE_ROWS)[:count]).astype(np.int64)


def filled(message: Message) -> Arrays:
    """Arrays as in a message: row numbers, sorted ascending, and values."""
    return [random_ids(shape[0]) if dtype == "<i8" else np.full(shape, 1e-3, dtype) for shape, dtype in message.sent]


class Server:
    """Adds pushed values to arrays and returns copies of them; rows of tables are addressed by their numbers. A message
    has values of arrays, numbers and values of rows of tables, and numbers of the rows to return."""

    def __init__(self, message: Message):
        self.kinds = [dtype == "<i8" for _, dtype in message.sent]
        values = [number for number, is_rows in enumerate(self.kinds) if not is_rows]
        self.dense = {one: np.zeros(*message.sent[one]) for one in values if not (one and self.kinds[one - 1])}
        self.tables = [
            np.zeros((TABLE_ROWS, *message.sent[one][0][1:]), message.sent[one][1]) for one in values if one not in self.dense
        ]

    def exchange(self, arrays: Arrays) -> Arrays:
        for number, array in self.dense.items():
            array += arrays[number]
        rows = [array for array, is_rows in zip(arrays, self.kinds) if is_rows]
        of_tables = [array for number, array in enumerate(arrays) if not self.kinds[number] and number not in self.dense]
        for table, some, values in zip(self.tables, rows, of_tables):
            table[some] += values
        return [array.copy() for array in self.dense.values()] + [
            table[some] for table, some in zip(self.tables, rows[len(self.tables) :])
        ]


def steps(sent: list[Arrays], ask: Ask, compute: Callable[[int], Any], count: int) -> list[float]:
    """The time at which each step ended, preceded by the time at which the first one began."""
    ask(sent)
    ends = [time.monotonic()]
    for step in range(count):
        ask(sent)
        compute(step)
        ends.append(time.monotonic())
    return ends


def model(computes: bool) -> Callable[[int], Any]:
    """The forward and backward pass of wide & deep, for a step; or nothing."""
    if not computes:
        return lambda step: None
    import paddle_mini as pm
    from paddle_mini.cluster.trainers.transpile import transpile

    loss, batches = build()
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    program = transpile(pm.default_main_program())
    fetches = [loss.name] + [one.gradient for one in program.trained]
    return lambda step: exe.run(program.program, batches[step % POOL], fetches)


class RayTrainer:
    def __init__(self, servers: Sequence[Any], messages: list[Message], computes: bool):
        self.servers, self.sent, self.compute = servers, [filled(one) for one in messages], model(computes)

    def steps(self, count: int) -> list[float]:
        import ray

        ask = lambda sent: ray.get([server.exchange.remote(arrays) for server, arrays in zip(self.servers, sent)])
        return steps(self.sent, ask, self.compute, count)


def over_ray(messages: list[Message], computes: bool) -> Callable[[int], list[list[float]]]:
    import ray

    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 30)
    actors = {kind: ray.remote(num_cpus=0)(kind) for kind in (Server, RayTrainer)}
    servers = [actors[Server].remote(one) for one in messages]
    trainers = [actors[RayTrainer].remote(servers, messages, computes) for _ in range(2)]
    return lambda count: ray.get([trainer.steps.remote(count) for trainer in trainers])


def zmq_server(message: Message, address: str, keys: Any, found: Any) -> None:
    import zmq

    one, router = Server(message), zmq.Context().socket(zmq.ROUTER)
    if keys:
        router.curve_server, router.curve_publickey, router.curve_secretkey = True, *keys
    router.bind(address)
    found.put(router.last_endpoint.decode())
    while True:
        sender, *frames = router.recv_multipart(copy=False)
        arrays = [np.frombuffer(frame, dtype).reshape(shape) for frame, (shape, dtype) in zip(frames, message.sent)]
        router.send_multipart([sender, *one.exchange(arrays)], copy=False)


def zmq_ask(addresses: Sequence[str], keys: Any) -> Ask:
    import zmq

    context, sockets = zmq.Context(), []
    for address in addresses:
        one = context.socket(zmq.DEALER)
        if keys:
            one.curve_serverkey, one.curve_publickey, one.curve_secretkey = keys[0], *keys
        one.connect(address)
        sockets.append(one)

    def ask(sent: list[Arrays]) -> None:
        for one, arrays in zip(sockets, sent):
            one.send_multipart(arrays, copy=False)
        for one in sockets:
            one.recv_multipart(copy=False)

    return ask


def grpc_server(message: Message, address: str, keys: Any, found: Any) -> None:
    import grpc

    one = Server(message)

    def exchange(data: bytes, context: Any) -> bytes:
        at, arrays = 0, []
        for shape, dtype in message.sent:
            array = np.frombuffer(data, dtype, int(np.prod(shape)), at).reshape(shape)
            at += array.nbytes
            arrays.append(array)
        return b"".join(one.exchange(arrays))

    server = grpc.server(ThreadPoolExecutor(1), options=UNLIMITED)
    handler = grpc.method_handlers_generic_handler("s", {"exchange": grpc.unary_unary_rpc_method_handler(exchange)})
    server.add_generic_rpc_handlers([handler])
    found.put(f"localhost:{server.add_insecure_port(address)}")
    server.start()
    server.wait_for_termination()


def grpc_ask(addresses: Sequence[str], keys: Any) -> Ask:
    import grpc

    calls = [grpc.insecure_channel(one, UNLIMITED).unary_unary("/s/exchange") for one in addresses]

    def ask(sent: list[Arrays]) -> None:
        for future in [call.future(b"".join(arrays)) for call, arrays in zip(calls, sent)]:
            future.result()

    return ask


def no_ask(addresses: Sequence[str], keys: Any) -> Ask:
    return lambda sent: None


UNLIMITED = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]


def trainer(messages: list[Message], make_ask: Callable[[], Ask], computes: bool, orders: Any, results: Any) -> None:
    ask, compute, sent = make_ask(), model(computes), [filled(one) for one in messages]
    while True:
        results.put(steps(sent, ask, compute, orders.get()))


def over_processes(
    server: Callable[..., None] | None, ask: Callable[..., Ask], address: str, keys: Any, messages: list[Message], computes: bool
) -> Callable[[int], list[list[float]]]:
    found, orders, results = SPAWN.Queue(), SPAWN.Queue(), SPAWN.Queue()
    addresses = []
    for number, one in enumerate(messages if server is not None else []):
        SPAWN.Process(target=server, args=(one, address.format(number), keys, found), daemon=True).start()
        addresses.append(found.get())
    for _ in range(2):
        arguments = (messages, partial(ask, addresses, keys), computes, orders, results)
        SPAWN.Process(target=trainer, args=arguments, daemon=True).start()

    def run(count: int) -> list[list[float]]:
        for _ in range(2):
            orders.put(count)
        return [results.get() for _ in range(2)]

    return run


def prepare(how: str, computes: bool) -> Run:
    """Steps of all trainers, from which bytes per second follow."""
    messages = [Message(*one) for one in json.loads(SHAPES.read_text())[0]]
    if how == "computing":
        ends_of = over_processes(None, no_ask, "", None, messages, computes)
    elif how == "ray":
        ends_of = over_ray(messages, computes)
    elif how == "grpc":
        ends_of = over_processes(grpc_server, grpc_ask, "localhost:0", None, messages, computes)
    else:
        import zmq

        keys = zmq.curve_keypair() if how == "curve" else None
        address = "tcp://127.0.0.1:*" if how != "local" else f"ipc://{tempfile.mkdtemp()}/{os.getpid()}-{{}}"
        ends_of = over_processes(zmq_server, zmq_ask, address, keys, messages, computes)

    def run(count: int) -> float:
        return rate([Timing(one, {}, [messages], one[0]) for one in ends_of(count)])

    run(10)
    return run


TRANSPORTS = ("ray", "local", "tcp", "curve", "grpc")

if __name__ == "__main__":
    serve(
        {
            **{f"{how}-exchange": partial(prepare, how, False) for how in TRANSPORTS},
            **{f"{how}-training": partial(prepare, how, True) for how in ("ray", "local")},
            "computing": partial(prepare, "computing", True),
        }
    )
