# Load on a server of a model: python load.py URL [--clients 16] [--requests 2000] [--rate R | --load 0.7]
"""Without --rate, each client sends a request when the one before has been answered. With --rate, requests come at random times,
R of them a second on average, as those of many users do; the time of a request counts from when it was due. --load measures the
most that the server answers first, and then this part of it. Prints requests a second, and p50 and p99 of the times."""

import argparse
import asyncio
import gc
import json
import time

import aiohttp
import numpy as np

BODIES = 64  # different requests


def bodies_of(inputs, rows=1):
    """Random requests to a model. Sequences have 1 to 20 elements; integers are 0 or 1, which every table has."""
    random = np.random.default_rng(0)

    def value(one, levels):
        if levels:
            return [value(one, levels - 1) for _ in range(random.integers(1, 21))]
        shape = [max(size, 1) for size in one["shape"][1:]]
        return (random.random(shape) * 0.5 if "float" in one["dtype"] else random.integers(0, 2, shape)).tolist()

    def same_lengths(made):
        """Inputs of sequences are of the same lengths: often they are facts about the same words."""
        names = [name for name in made if inputs[name]["levels"] == 1]
        for row in range(rows):
            length = min((len(made[name][row]) for name in names), default=0)
            for name in names:
                made[name][row] = made[name][row][:length]
        return made

    return [
        {"inputs": same_lengths({name: [value(one, one["levels"]) for _ in range(rows)] for name, one in inputs.items()})}
        for _ in range(BODIES)
    ]


class Load:
    """Requests to one server, and their times in seconds. A status other than 200 is an error."""

    def __init__(self, session, url, bodies):
        self.session, self.url, self.bodies, self.times = session, url, bodies, []

    async def send(self, number, due=None):
        begin = time.perf_counter() if due is None else due
        async with self.session.post(f"{self.url}/predict", json=self.bodies[number % len(self.bodies)]) as reply:
            await reply.read()
            reply.raise_for_status()
        self.times.append(time.perf_counter() - begin)

    async def by_clients(self, clients, requests):
        async def client(number):
            for i in range(number, requests, clients):
                await self.send(i)

        await asyncio.gather(*map(client, range(clients)))

    async def by_rate(self, rate, requests):
        due, tasks = time.perf_counter(), []
        for number, wait in enumerate(np.random.default_rng(1).exponential(1 / rate, requests)):
            due += wait
            await asyncio.sleep(due - time.perf_counter())
            tasks.append(asyncio.create_task(self.send(number, due)))
        await asyncio.gather(*tasks)


async def measure(url, clients=16, requests=2000, rate=None, rows=1):
    """The seconds of each request, and of all together."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async with session.get(f"{url}/model") as reply:
            load = Load(session, url, bodies_of((await reply.json())["inputs"], rows))
        begin = time.perf_counter()
        await (load.by_rate(rate, requests) if rate else load.by_clients(clients, requests))
        return load.times, time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description="Load on a server of a model.")
    parser.add_argument("url")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--rate", type=float, help="requests a second, at random times")
    parser.add_argument("--load", type=float, help="part of the most that the server answers")
    parser.add_argument("--json", action="store_true", help="print an object")
    words = parser.parse_args()
    gc.disable()  # a pause of this process would be counted as one of the server
    rate = words.rate
    if words.load:
        for _ in range(2):  # the first time the server makes its plans
            times, total = asyncio.run(measure(words.url, words.clients, words.requests))
        rate = words.load * len(times) / total
    times, total = asyncio.run(measure(words.url, words.clients, words.requests, rate))
    p50, p99 = np.percentile(times, [50, 99]) * 1000
    found = {"rate": len(times) / total, "p50": p50, "p99": p99, "longest": max(times) * 1000}
    if words.json:
        print(json.dumps(found))
    else:
        print("{rate:.0f} requests a second, p50 {p50:.2f} ms, p99 {p99:.2f} ms, longest {longest:.2f} ms".format(**found))


if __name__ == "__main__":
    main()
