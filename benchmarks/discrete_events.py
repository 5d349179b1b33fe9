# Discrete events: processes that take time, wait for each other and stand in queues.
from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Generator
from typing import Any

Process = Generator[Any, None, None]
"""Yields seconds, as a float, to wait, or a Queue or Latch that it waits for."""


class Simulation:
    """Processes in the order of their moments; those of the same moment in the order in which they were planned, so
    that a seed has one result. now: seconds."""

    def __init__(self, seed: int):
        self.now, self.random = 0.0, random.Random(seed)
        self._events: list[tuple[float, int, Process]] = []
        self._count = 0

    def begin(self, process: Process, after: float = 0.0) -> None:
        self._count += 1
        heapq.heappush(self._events, (self.now + after, self._count, process))

    def run(self, until: float) -> None:
        while self._events and self._events[0][0] <= until:
            self.now, _, process = heapq.heappop(self._events)
            for wanted in process:
                if isinstance(wanted, float):
                    self.begin(process, wanted)
                    break
                if not wanted.admits(process):
                    break
        self.now = until


class Queue:
    """So many processes at a time; the others wait in the order in which they came. busy: seconds that its places were
    used, all together; entered and stayed: how many came, and the seconds that all of them were there."""

    def __init__(self, simulation: Simulation, places: int = 1):
        self._simulation, self._free, self.places = simulation, places, places
        self._waiting: deque[Process] = deque()
        self.busy = self.stayed = 0.0
        self.entered = 0

    def admits(self, process: Process) -> bool:
        if self._free:
            self._free -= 1
            return True
        self._waiting.append(process)
        return False

    def release(self) -> None:
        """By whoever was admitted; the next one is."""
        if self._waiting:
            self._simulation.begin(self._waiting.popleft())
        else:
            self._free += 1

    def use(self, seconds: float) -> Process:
        """Waits for a place, uses it and gives it back."""
        came = self._simulation.now
        yield self
        yield float(seconds)
        self.release()
        self.busy += seconds
        self.entered += 1
        self.stayed += self._simulation.now - came


class Latch:
    """Opens when count things are done."""

    def __init__(self, simulation: Simulation, count: int):
        self._simulation, self._left = simulation, count
        self._waiting: list[Process] = []

    def admits(self, process: Process) -> bool:
        if self._left > 0:
            self._waiting.append(process)
        return self._left <= 0

    def done(self) -> None:
        self._left -= 1
        if self._left == 0:
            for process in self._waiting:
                self._simulation.begin(process)
            self._waiting.clear()
