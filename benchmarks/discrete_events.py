# Queues and latches of a discrete-event simulation with SimPy, which count how they are used.
from __future__ import annotations

import random
from collections.abc import Generator
from typing import Any

import simpy

Process = Generator[simpy.Event, Any, None]


class Simulation(simpy.Environment):
    """Processes of the same time run in the order in which they were scheduled, so that a seed has one result."""

    def __init__(self, seed: int):
        super().__init__()
        self.random = random.Random(seed)

    def begin(self, process: Process, after: float = 0.0) -> None:
        self.process(self._later(process, after) if after else process)

    def _later(self, process: Process, after: float) -> Process:
        yield self.timeout(after)
        yield from process


class Queue(simpy.Resource):
    """Admits this many processes at a time; the others wait in the order of their arrival. busy: seconds for which its
    places were used, summed; entered and stayed: number of arrivals, and the sum of the seconds they were present."""

    def __init__(self, simulation: Simulation, places: int = 1):
        super().__init__(simulation, places)
        self._simulation = simulation
        self.busy = self.stayed = 0.0
        self.entered = 0

    def use(self, seconds: float) -> Process:
        """Waits for a place, uses it and frees it."""
        came = self._simulation.now
        with self.request() as place:
            yield place
            yield self._simulation.timeout(seconds)
        self.busy += seconds
        self.entered += 1
        self.stayed += self._simulation.now - came


class Latch(simpy.Event):
    """An event that happens when done() was called `count` times."""

    def __init__(self, simulation: Simulation, count: int):
        super().__init__(simulation)
        self._left = count
        if count == 0:
            self.succeed()

    def done(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.succeed()
