# Cost of messages at trainers, servers and the coordinator, measured here for the model in cluster_sim.py.
"""Writes results/cluster_costs.json. Each figure is the minimum of many times, or seconds of CPU time, so that other work
on this machine does not count.

    python benchmarks/cluster_costs.py
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from itertools import count, cycle
from queue import SimpleQueue
from typing import Any

import paddle_mini as pm
from cluster_inputs import Costs
from cluster_job import trained, wait, working
from cluster_many_servers import NAMED, exchange_seconds
from cluster_one_server import ELEMENTS, ROWS, TIMES, OneServer, least_seconds
from cluster_sockets import Peer, costs_of_sockets, held_seconds, small_messages
from measuring import HERE
from paddle_mini.cluster.coordinator.coordinator import Coordinator
from paddle_mini.cluster.coordinator.coordinator_settings import CoordinatorSettings
from paddle_mini.cluster.messages import Request, decode_reply, encode
from paddle_mini.cluster.protocol import AskSave, EndTasks, GetTasks, Heartbeat, Join, SetData
from paddle_mini.cluster.values import Role, TaskId
from run import cpu_facts
from worker import ONE_THREAD

RESULT = HERE / "results" / "cluster_costs.json"
SIZES = (100, 1000, 10_000)
"""Numbers of trainers that a coordinator knows."""
ROUNDS, JOB_ROUNDS = 3, 1
"""Measurements of each figure, some time apart: the least is that of the quietest."""
MERGED = 4
"""Batches that are merged where trainers read ahead."""
UPKEEP_SECONDS = 6.0
"""For which jobs wait."""
AT_ONCE = 32
"""Trainers whose requests come to a coordinator while its disk is busy."""


def costs_of_threads() -> Costs:
    """Costs of an engine whose messages are calls."""
    with tempfile.TemporaryDirectory() as directory:
        one = OneServer(directory)
        measured = {
            (name, what): one.seconds(name, **dict.fromkeys(what.split(), True))
            for name in ("pull", "push")
            for what in ("", "large", "rows", "large rows")
        }
        size = 4 * ELEMENTS

        def more(name: str, what: str, where: int) -> float:
            return max(0.0, measured[name, what][where] - measured[name, ""][where])

        few, many = exchange_seconds(100, 1), exchange_seconds(1000, 1)
        row = max(0.0, exchange_seconds(100, 8) - few) / (7 * NAMED)
        heartbeats = {count: coordinator_seconds(count)["heartbeat"] for count in (SIZES[0], SIZES[-1])}
        member = max(0.0, heartbeats[SIZES[-1]] - heartbeats[SIZES[0]]) / (SIZES[-1] - SIZES[0])
        following = [one.seconds(name, follows=True)[1] for name in ("pull", "push")]
        return Costs(
            client_message=(measured["pull", ""][0] + measured["push", ""][0]) / 2,
            client_byte=(more("pull", "large", 0) + more("push", "large", 0)) / (2 * size),
            server_message=(measured["pull", ""][1] + measured["push", ""][1]) / 2,
            server_byte=0.0,
            message_wait=0.0,
            pull_byte=more("pull", "large", 1) / size,
            pull_row=more("pull", "rows", 1) / ROWS,
            push_byte=more("push", "large", 1) / size,
            push_row=more("push", "rows", 1) / ROWS,
            sum_byte=one.sum_byte(),
            checkpoint_byte=one.checkpoint_byte(),
            heartbeat=heartbeats[SIZES[0]] - member * SIZES[0],
            heartbeat_member=member,
            client_row=row,
            client_message_more=max(0.0, many - few) / 900,
            server_message_more=sum(following) / 2,
        )


def coordinator_seconds(trainers: int) -> dict[str, float]:
    """Seconds for one trainer's request, of AT_ONCE from as many trainers at once, when a coordinator knows this many
    trainers and each has 10 tasks: with the disk, which one call serves for all of them. ask_save: for trainers that are
    not elected; task: to get one, and to end it; all_join: that all of them join."""
    with tempfile.TemporaryDirectory() as directory:
        coordinator = Coordinator(CoordinatorSettings("job", 2 * trainers, 1, lease=1e9), directory)
        coordinator.batched = True
        replies: SimpleQueue[Any] = SimpleQueue()

        def send(requests: Sequence[Request[Any]]) -> list[Any]:
            for request in requests:
                coordinator.take(*encode("job", request), replies.put, 60.0)
            coordinator.flush()
            return [decode_reply(request.reply, *replies.get()) for request in requests]

        def each(make: Callable[[Any], Request[Any]]) -> float:
            requests = iter([[make(next(who)) for _ in range(AT_ONCE)] for _ in range(TIMES + 1)])
            return least_seconds(lambda: send(next(requests))) / AT_ONCE

        begin, members = time.perf_counter(), []
        for first in range(0, trainers, AT_ONCE):
            members += send([Join(str(number), number) for number in range(first, min(trainers, first + AT_ONCE))])
        all_join = time.perf_counter() - begin
        who = cycle((one.number, one.incarnation) for one in members)
        new = count()
        send([SetData(list(range(10 * trainers)), 1), AskSave(*next(who), directory="models", seconds=1e4)])
        facts = {
            "all_join": all_join,
            "join": each(lambda _: Join(f"new {next(new)}")),
            "heartbeat": each(lambda one: Heartbeat(Role.TRAINER, *one)),
            "ask_save": each(lambda one: AskSave(*one, directory="models", seconds=60.0)),
            "task": each(lambda one: GetTasks(*one, pass_number=0))
            + each(lambda one: EndTasks(*one, tasks=[TaskId(next(new), 1)])),
        }
        coordinator.rest()
        return facts


def of_a_step(engine: str, trainers: int, servers: int, merged: int = 0) -> dict[str, float]:
    """Costs of a job of wide & deep, with run() or with steps(merged): CPU time of a trainer's step in all processes
    together (work), of its thread without the exchange (compute), and the least time of that (least); and the job's steps per
    second, which are fewer when other programs use the machine."""
    timings, work = working(lambda: trained(engine, trainers, servers, 300, True, merged))
    compute = sum(one.compute for one in timings) / trainers
    if merged:
        return {**work, "compute": compute}
    one = timings[0]
    own = [end - begin - one.parts["exchange"][i] for i, (begin, end) in enumerate(zip(one.ends, one.ends[1:]))]
    return {**work, "compute": compute, "least": min(own)}


def upkeep(engine: str) -> dict[str, float]:
    """Cores that a job uses while its trainers wait: of the engine, and for each trainer and each server. From jobs of 1 + 1
    and of 4 + 4, in whose process this function waits for them, too."""
    few, many = (
        working(lambda: pm.cluster.run(wait, count, count, engine=engine, args=(UPKEEP_SECONDS,)).returned)[1]["share"]
        for count in (1, 4)
    )
    each = max(0.0, many - few) / 6
    return {"upkeep": max(0.0, few - 2 * each), "upkeep_process": each}


def least(rounds: Sequence[Costs]) -> Costs:
    """The least of each cost."""
    found = {one.name: [getattr(costs, one.name) for costs in rounds] for one in fields(Costs)}
    return Costs(**{name: None if values[0] is None else min(values) for name, values in found.items()})


def sockets(threads: Costs) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer(folder)
        try:
            small = [{is_local: small_messages(peer, is_local) for is_local in (False, True)} for _ in range(ROUNDS)]
            costs = [{local: costs_of_sockets(threads, peer, local) for local in (False, True)} for _ in range(ROUNDS)]
            held = min(held_seconds(folder) for _ in range(ROUNDS))
        finally:
            peer.process.kill()
    best = {local: min((one[local] for one in small), key=lambda one: one["server_cpu"]) for local in (False, True)}
    of_ray = upkeep("ray")
    return {
        "ray": {**asdict(least([one[False] for one in costs])), **of_ray},
        "ray, one machine": {**asdict(least([one[True] for one in costs])), **of_ray},
        "small messages": {"encrypted": best[False], "one machine": best[True], "held": held},
    }


def jobs() -> dict[str, dict[str, float]]:
    """The round with the least work of each job."""
    kinds = [(engine, count, 0) for engine in ("threads", "ray") for count in (1, 2, 4)]
    kinds += [("ray", count, MERGED) for count in (2, 4)]
    rounds = [[of_a_step(engine, count, count, merged) for engine, count, merged in kinds] for _ in range(JOB_ROUNDS)]
    return {
        f"{engine} {count}+{count}" + (", ahead" if merged else ""): min(some, key=lambda one: one["work"])
        for (engine, count, merged), some in zip(kinds, zip(*rounds))
    }


def main() -> None:
    os.environ.update(ONE_THREAD)
    threads = least([costs_of_threads() for _ in range(ROUNDS)])
    facts = {
        "cpu": cpu_facts().get("model name"),
        "cores": os.cpu_count(),
        "threads": {**asdict(threads), **upkeep("threads")},
        **sockets(threads),
        "measured": jobs(),
        "coordinator": {str(count): coordinator_seconds(count) for count in SIZES},
    }
    RESULT.write_text(json.dumps(facts, indent=1) + "\n")
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
