# Figures of files: a state of 400 MB saved and loaded, beside plain writes and reads of as many bytes and torch.save.
from __future__ import annotations

import sys
from collections.abc import Iterator

import workloads
from environments import NotInstalled, command_of
from measuring import HERE, Row, Settings, in_turn, start
from worker import Worker, WorkerError

BAR = 0.9  # a plain write with fsync, or a plain read from the page cache, is 1
WAYS = ("pdparams", "safetensors", "pdiparams", "checkpoint")


def files(settings: Settings) -> Iterator[Row]:
    for what, plain in (("write", "write and fsync"), ("read", "read()")):
        workers: dict[str, Worker] = {}
        absent = ""
        try:
            for way in ("plain", *WAYS):
                workers[way] = start("ours", [sys.executable, str(HERE / "ours_files.py")], f"{way}_{what}", settings)
            try:
                workers["torch"] = start("torch", command_of("torch.save"), f"torch_{what}", settings)
            except (NotInstalled, WorkerError) as error:
                absent = str(error)
            measures = {name: lambda worker=worker: worker.seconds(1) for name, worker in workers.items()}
            seconds = in_turn(measures, settings.rounds)
        finally:
            for worker in workers.values():
                worker.close()
        speed = {name: workloads.STATE_BYTES / 1e9 / taken for name, taken in seconds.items()}
        for way in WAYS:
            title, ratio = f"{way}, {workloads.STATE_BYTES // 10**6} MB: {what}", speed[way] / speed["plain"]
            yield Row(title, "GB/s", speed[way], plain, speed["plain"], ratio, f"≥ {BAR} ×", ratio >= BAR)
            if absent:
                yield Row(title, "GB/s", speed[way], "torch", note=f"not measured: {absent}")
            else:
                yield Row(title, "GB/s", speed[way], f"torch {what}", speed["torch"], speed[way] / speed["torch"])
