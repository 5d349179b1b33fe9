# Load on a server of a model: python load.py URL [--clients 16] [--requests 2000]
"""Each client sends a request when the one before has been answered. Prints requests a second, and p50 and p99 of the times."""

import argparse
import asyncio
import time

import aiohttp
import numpy as np


async def measure(url, clients, requests, rows=1):
    """The seconds of each request, and of all together."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=clients)) as session:
        async with session.get(f"{url}/model") as reply:
            inputs = (await reply.json())["inputs"]
        random = np.random.default_rng(0)
        shapes = {name: [rows, *(max(size, 1) for size in one["shape"][1:])] for name, one in inputs.items()}
        body = {"inputs": {name: (random.random(shape) * 0.5).tolist() for name, shape in shapes.items()}}
        times = []

        async def client(number):
            for _ in range(number, requests, clients):
                begin = time.perf_counter()
                async with session.post(f"{url}/predict", json=body) as reply:
                    await reply.read()
                    reply.raise_for_status()
                times.append(time.perf_counter() - begin)

        begin = time.perf_counter()
        await asyncio.gather(*map(client, range(clients)))
        return times, time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description="Load on a server of a model.")
    parser.add_argument("url")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--requests", type=int, default=2000)
    words = parser.parse_args()
    times, total = asyncio.run(measure(words.url, words.clients, words.requests))
    p50, p99 = np.percentile(times, [50, 99]) * 1000
    print(f"{len(times) / total:.0f} requests a second, p50 {p50:.2f} ms, p99 {p99:.2f} ms")


if __name__ == "__main__":
    main()
