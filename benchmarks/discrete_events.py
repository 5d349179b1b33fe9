# Discrete-event simulation: processes that take time, wait for each other and queue.
from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Generator
from typing import Any

Process = Generator[Any, None, None]
"""A generator that yields the seconds (float) it waits, or a Queue or Latch it waits for."""


class Simulation:
    """Runs processes in the order of their times, and those of the same time in the order in which they were scheduled,
    so that a seed has one result. now: seconds."""

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
    """Admits this many processes at a time; the others wait in the order of their arrival. busy: seconds for which its
    places were used, summed; entered and stayed: number of arrivals, and the sum of the seconds they were present."""

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
        """Called by the process that was admitted; admits the next one."""
        if self._waiting:
            self._simulation.begin(self._waiting.popleft())
        else:
            self._free += 1

    def use(self, seconds: float) -> Process:
        """Waits for a place, uses it and frees it."""
        came = self._simulation.now
        yield self
        yield float(seconds)
        self.release()
        self.busy += seconds
        self.entered += 1
        self.stayed += self._simulation.now - came


class Latch:
    """Opens when `count` events have happened."""

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
