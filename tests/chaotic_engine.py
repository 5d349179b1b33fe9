# ChaoticThreads: a job on threads whose messages are lost, doubled, late, and whose parts die.
import random
import threading
import time

from paddle_mini.cluster import Timeout
from paddle_mini.cluster.thread_engine import ThreadEngine


class ChaoticThreads(ThreadEngine):
    """Of each 100 requests, by a seed, `lost` do not arrive, as many have no reply, as many come twice, once more at a
    later time, or late. deaths: {number of the request: name of a part that dies then}; a service is back `absent`
    seconds later."""

    def __init__(self, seed, lost=3, deaths=None, absent=0.05):
        super().__init__()
        self._random, self._rolling = random.Random(seed), threading.Lock()
        self._lost, self._deaths, self._absent = lost, dict(deaths or {}), absent
        self._count, self._back, self._later = 0, [], []
        self.deaths = 0

    def call(self, request, timeout):
        with self._rolling:
            fate = self._random.randrange(100) // self._lost if self._lost else 99
            self._count += 1
            due = self._later if self._random.randrange(10) == 0 else []
            self._later = [] if due else self._later
            dead = [self._deaths.pop(at) for at in [at for at in self._deaths if at <= self._count]]
        for name in dead:
            self._die(name)
        for late in due:
            super().call(late, timeout)
        if fate == 0:
            return Timeout("lost on the way")
        if fate == 1:
            super().call(request, timeout)
            return Timeout("the reply was lost")
        if fate == 2:
            super().call(request, timeout)
        if fate == 3:
            self._later.append(request)
        if fate == 4:
            time.sleep(0.002)
        return super().call(request, timeout)

    def _die(self, name):
        self.kill(name)
        self.deaths += 1
        if not name.startswith("trainer"):
            self._back.append(threading.Timer(self._absent, self.restart, [name]))
            self._back[-1].start()

    def stop(self):
        for timer in self._back:
            timer.join()
        super().stop()
