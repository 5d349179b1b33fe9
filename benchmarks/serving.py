# The model server of examples/serving under load: the models of the book, many requests, a killed server and its successor.
"""python benchmarks/serving.py [--requests 2000] [--endure 100000] [--real-time]

Each model, not trained, is served by a process of its own. The most that 16 clients get answered is measured, then requests
come at random times, 70 % of that. A third process measures meanwhile by how much the machine is late to wake it from sleeps
of 1 ms: what other processes cost any server at that time. --real-time gives the server and the load a real-time priority, so
that other processes hardly disturb them. Writes results/serving.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np

import paddle_mini as pm

ROOT = Path(__file__).resolve().parents[1]
BOOK, SERVING = ROOT / "examples/book", ROOT / "examples/serving"
CHAPTERS = ["01", "02 softmax", "02 mlp", "02 cnn", "03 resnet", "04", "05", "06 conv", "06 lstm", "06 stacked", "07", "08"]
PORT, LOAD, BAR = 18411, 0.7, 3.0
LATE = """
import json, signal, sys, time
late, running = [], [True]
signal.signal(signal.SIGTERM, lambda *_: running.clear())
print("ready", flush=True)
while running:
    due = time.perf_counter() + 0.001
    time.sleep(0.001)
    late.append(time.perf_counter() - due)
json.dump(sorted(late), sys.stdout)
"""


class Saved(Exception):
    """Ends a chapter whose model is saved."""


def save_chapter(name: str, prefix: Path) -> None:
    """Runs a chapter, which initializes its parameters and saves its model, but trains nothing."""
    number, *net = name.split()
    (path,) = BOOK.glob(f"{number}_*.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    chapter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(chapter)

    def fit(samples: Any, feed_list: Any, loss: Any, optimizer: Any, args: Any, **measures: Any) -> Any:
        optimizer.minimize(loss)
        pm.seed(1)
        executor = pm.Executor()
        executor.run(pm.default_startup_program())
        return executor, dict.fromkeys(measures, 0.0)

    def saved(args: Any, feed_vars: Any, fetch_vars: Any, executor: Any, rows: Any) -> Any:
        pm.io.save_inference_model(prefix, feed_vars, fetch_vars, executor)
        raise Saved

    def translated(args: Any, executor: Any, sizes: Any, rows: Any) -> Any:
        with pm.program_guard(pm.Program(), pm.Program()), pm.unique_name.guard():
            inputs, best = chapter.translating(sizes)
            saved(args, inputs, [best], executor, rows)

    chapter.fit, chapter.saved_and_used, chapter.translated = fit, saved, translated  # type: ignore[attr-defined]
    pm.reset_default_programs()
    with pm.scope_guard(pm.Scope()), pm.unique_name.guard():
        try:
            chapter.main([word for one in net for word in ("--net", one)])
        except Saved:
            return
    raise RuntimeError(f"chapter {name} has saved no model")


def in_priority(real_time: bool) -> list[str]:
    return ["chrt", "-r", "10"] if real_time else []


class Server:
    """A server of a model in a process of its own, on a port; `with` ends it by SIGTERM."""

    def __init__(self, prefix: Path, real_time: bool):
        self.url = f"http://127.0.0.1:{PORT}"
        words = [*in_priority(real_time), sys.executable, str(SERVING / "server.py"), str(prefix), "--port", str(PORT)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        while not self.answers():
            if self.process.poll() is not None:
                raise RuntimeError("the server has ended")
            time.sleep(0.02)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        if self.end(signal.SIGTERM) != 0:
            raise RuntimeError("the server did not end by itself after SIGTERM")

    def answers(self) -> bool:
        try:
            return bool(urllib.request.urlopen(f"{self.url}/health", timeout=5).read() == b"ok")
        except OSError:
            return False

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)

    def megabytes(self) -> float:
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0]) / 1024


def load_on(server: Server, real_time: bool, *words: str) -> dict[str, float]:
    """The object that load.py prints; a request that fails ends it with an error."""
    command = [*in_priority(real_time), sys.executable, str(SERVING / "load.py"), server.url, "--json", *words]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found


@contextmanager
def lateness(priority: list[str]) -> Iterator[list[float]]:
    """After the block: by how many ms a process was late to wake, sorted."""
    process = subprocess.Popen([*priority, sys.executable, "-c", LATE], stdout=subprocess.PIPE)
    assert process.stdout and process.stdout.readline() == b"ready\n"
    late: list[float] = []
    try:
        yield late
    finally:
        process.terminate()
        late += [1000 * one for one in json.loads(process.communicate()[0])]


def row_of(name: str, prefix: Path, requests: int, real_time: bool) -> str:
    above = ["chrt", "-r", "11"] if real_time else []
    with Server(prefix, real_time) as server, lateness([]) as late, lateness(above) as first:
        found = load_on(server, real_time, "--requests", str(requests), "--load", str(LOAD))
    ratio = found["p99"] / found["p50"]
    return (
        f"| {name} | {found['rate']:,.0f} | {found['p50']:.1f} | {found['p99']:.1f} | {ratio:.1f} "
        f"| {'yes' if ratio <= BAR else 'no'} | {found['longest']:.0f} "
        f"| {np.percentile(late, 99):.1f} | {late[-1]:.0f} | {first[-1]:.0f} |"
    )


def endured(prefix: Path, requests: int, real_time: bool) -> str:
    with Server(prefix, real_time) as server:
        load_on(server, real_time, "--requests", "2000")
        before = server.megabytes()
        found = load_on(server, real_time, "--requests", str(requests))
        after = server.megabytes()
    return (
        f"{requests:,} requests to the first model by 16 clients: no error, {found['rate']:,.0f} a second, p50 "
        f"{found['p50']:.1f} ms, p99 {found['p99']:.1f} ms; the server has {before:.0f} MB before and {after:.0f} MB after them."
    )


def replaced(prefix: Path, real_time: bool) -> str:
    """SIGKILL while a client sends requests, and another server on the same port."""
    first, answered = Server(prefix, real_time), [0]
    body = json.dumps({"inputs": {"x": [[0.5] * 13]}}).encode()

    def client() -> None:
        with suppress(OSError, HTTPException):  # the server is killed
            while True:
                urllib.request.urlopen(f"{first.url}/predict", body, timeout=30).read()
                answered[0] += 1

    thread = threading.Thread(target=client)
    thread.start()
    while answered[0] < 100 and thread.is_alive():
        time.sleep(0.01)
    begin = time.perf_counter()
    first.end(signal.SIGKILL)
    thread.join()
    with Server(prefix, real_time) as second:
        seconds = time.perf_counter() - begin
        load_on(second, real_time, "--requests", "500")
    if answered[0] < 100:
        raise RuntimeError("the first server did not answer")
    return f"A server that SIGKILL ends under load: another one answers on its port {seconds:.1f} s later, and then 500 requests."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--endure", type=int, default=100_000)
    parser.add_argument("--real-time", action="store_true")
    words = parser.parse_args()
    cpu = next(line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line)
    priority = "real-time" if words.real_time else "normal"
    lines = [
        f"# The model server: {cpu}, {os.cpu_count()} cores",
        "",
        f"`benchmarks/serving.py`: server and load have {priority} priority; load before: {os.getloadavg()[0]:.1f}. "
        f"Requests of one row at random times, {words.requests:,} of them, {LOAD:.0%} of the most that 16 clients get answered.",
        "",
        "Late: how much later than after 1 ms a sleeping process of normal priority woke meanwhile, in ms; and the longest of "
        "one of a higher priority than the server's, if that is real-time: then the machine itself stood still.",
        "",
        f"| model | requests a second | p50, ms | p99, ms | p99 / p50 | ≤ {BAR:.0f} | longest, ms "
        "| late, p99 | late, longest | late, higher priority |",
        "|---|---:|---:|---:|---:|---|---:|---:|---:|---:|",
    ]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in CHAPTERS:
            prefix = Path(folder) / name.replace(" ", "_")
            save_chapter(name, prefix)
            lines.append(row_of(name, prefix, words.requests, words.real_time))
            print(lines[-1], flush=True)
        first = Path(folder) / CHAPTERS[0]
        for text in (replaced(first, words.real_time), endured(first, words.endure, words.real_time)):
            lines += ["", text]
            print("\n" + text, flush=True)
    (Path(__file__).parent / "results/serving.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(BOOK))
    main()
