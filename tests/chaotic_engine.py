# ChaoticThreads: a job on threads with lost, duplicated and late messages, and with processes that stop, die, and have
# no disk.
import errno
import os
import random
import threading
import time
from functools import partial

from cluster_moments import begin_again
from paddle_mini.cluster import Timeout
from paddle_mini.cluster.coordinator.coordinator import Coordinator
from paddle_mini.cluster.thread_engine import ThreadEngine

_fsync = os.fsync


class PatientClock:
    """Seconds that advance by at most LOOK from one look to the next. A coordinator looks at each message and at each tick, so
    its leases end when members are silent while it runs, and not because the machine had no time for the whole process."""

    LOOK = 0.05

    def __init__(self, now):
        self._now, self._looked = now, time.monotonic()

    def __call__(self):
        before, self._looked = self._looked, time.monotonic()
        self._now += min(self._looked - before, self.LOOK)
        return self._now


class ChaoticThreads(ThreadEngine):
    """Chosen by a seed, of each 100 requests `lost` do not arrive, as many have no reply, as many arrive twice, once
    more at a later time, only later, after its sender has sent others, or late. deaths: {number of the request: name of
    a process that dies then}; a service is back `absent` seconds later. stops: {number of the request: name of a
    service that hangs for `absent` seconds}. full: numbers of requests at which the disk alternates between full and
    not full; fsync() is that of this disk."""

    def __init__(self, seed, lost=3, deaths=None, absent=0.05, stops=None, full=()):
        super().__init__()
        self._random, self._rolling = random.Random(seed), threading.Lock()
        self._lost, self._absent, self._full = lost, absent, full
        self._deaths, self._stops = dict(deaths or {}), dict(stops or {})
        self._count, self._back, self._later = 0, [], []
        self.deaths = 0

    def serve(self, services):
        super().serve({name: partial(self._patient, make) for name, make in services.items()})

    def _patient(self, make, link):
        service = make(link)
        if isinstance(service, Coordinator):
            service._clock = PatientClock(service._now)
        return service

    def post(self, request, respond, timeout):
        with self._rolling:
            fate = self._random.randrange(100) // self._lost if self._lost else 99
            self._count += 1
            due = self._later if self._random.randrange(10) == 0 else []
            self._later = [] if due else self._later
            self._random.shuffle(due)
            dead, stopped = (
                [names.pop(at) for at in [at for at in names if at <= self._count]] for names in (self._deaths, self._stops)
            )
        for name in dead:
            self._die(name)
        for name in stopped:
            self._begin(threading.Thread(target=self._stop_for_a_while, args=[name]))
        for late in due:
            super().post(late, _nobody, timeout)
        if fate == 0:
            return respond(Timeout("lost on the way"))
        if fate == 1:
            super().post(request, _nobody, timeout)
            return respond(Timeout("the reply was lost"))
        if fate == 2:
            super().post(request, _nobody, timeout)
        if fate == 3:
            self._later.append(request)
        if fate == 4:
            self._later.append(request)
            return respond(Timeout("it is not there yet"))
        if fate == 5:
            time.sleep(0.002)
        return super().post(request, respond, timeout)

    def run_trainers(self, *arguments):
        try:
            return super().run_trainers(*arguments)
        finally:
            self._full = ()  # for the last checkpoint, without which a job ends with an error

    def fsync(self, descriptor):
        if sum(at <= self._count for at in self._full) % 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _fsync(descriptor)

    def _die(self, name):
        self.kill(name)
        self.deaths += 1
        if not name.startswith("trainer"):
            self._begin(threading.Timer(self._absent, begin_again, [self, name]))

    def _stop_for_a_while(self, name):
        with self._served[name].lock:
            time.sleep(self._absent)

    def _begin(self, thread):
        self._back.append(thread)
        thread.start()

    def stop(self):
        for thread in self._back:
            thread.join()
        super().stop()


def _nobody(answer):
    """Gets the answer to a message whose sender does not wait for it."""
