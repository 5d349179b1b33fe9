# ThreadEngine: runs trainers and services of a job in threads of one process.
from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count as counting
from queue import SimpleQueue
from typing import Any

from .engine import Answer, Batching, Engine, Envelope, Killed, Link, Respond, Service, TrainerLink, nothing
from .errors import ClusterError, Gone, Timeout, TrainerFailed

TICK = 0.1
"""Seconds from one tick of the services to the next."""
GRACE = 10.0
"""Seconds for trainers to reach their next request when a job is stopped early."""
_log = logging.getLogger(__name__)


class _Served:
    """A service. service: None after die(), then it is `killed`; lock: serialises calls, also across restarts. callers:
    those that wait for the lock."""

    def __init__(self, make: Callable[[], Service]):
        self._make, self.lock, self.callers = make, threading.Lock(), set[object]()
        self.service: Service | None = self.make()
        self.killed: Service | None = None
        self._expected: dict[int, Respond] = {}
        self._numbers = counting()

    def make(self) -> Service:
        service = self._make()
        if isinstance(service, Batching):
            service.batched = True
        return service

    def take(self, service: Service, request: Envelope, respond: Respond) -> None:
        """Gives a request to the service; if it dies before it answers, respond() gets Gone."""
        number = next(self._numbers)
        self._expected[number] = respond

        def answered(answer: Answer) -> None:
            if self.service is service and self._expected.pop(number, None) is not None:
                respond(answer)

        service.take(request.header, request.arrays, answered, request.patience)
        if isinstance(service, Batching) and not self.callers:
            service.flush()
        if self.service is not service:  # it died meanwhile
            self._refuse_all()

    def die(self) -> None:
        self.killed, self.service = self.service or self.killed, None
        self._refuse_all()

    def _refuse_all(self) -> None:
        for number in list(self._expected):
            respond = self._expected.pop(number, None)
            if respond is not None:
                respond(Gone("it died before it answered"))


class ThreadEngine(Engine):
    """Services are objects, called in the threads of their clients; each trainer is a thread, and another thread ticks.
    kill() and restart() simulate failures of processes, for tests."""

    def __init__(self) -> None:
        self._served: dict[str, _Served] = {}
        self._links: dict[int, _ThreadLink] = {}
        self._stopped = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="cluster ticks", daemon=True)

    def serve(self, services: Mapping[str, Callable[[Link], Service]]) -> None:
        for name, make in services.items():
            served = self._served[name] = _Served(partial(_made, make, self))
            assert served.service is not None
            with served.lock:
                served.service.tick()
        if not self._ticker.is_alive():
            self._ticker.start()

    def link(self) -> Link:
        return _ThreadLink(self)

    def run_trainers(
        self, work: Callable[[int, TrainerLink], Any], count: int, restarts: int, stopping: Callable[[], None] = nothing
    ) -> list[Any]:
        ended: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        results: list[Any] = [None] * count
        lives, threads = [0] * count, set()

        def begin(number: int) -> None:
            lives[number] += 1
            link = self._links[number] = _ThreadLink(self)
            thread = threading.Thread(target=_live, args=(work, number, link, ended), name=f"trainer {number}", daemon=True)
            threads.add(thread)
            thread.start()

        try:
            for number in range(count):
                begin(number)
            running = count
            while running:
                number, result, error = ended.get()
                if error is None:
                    results[number] = result
                    running -= 1
                elif not isinstance(error, Killed):
                    raise TrainerFailed.of(number, error) from error
                elif lives[number] > restarts:
                    raise TrainerFailed(f"trainer {number} died, and was restarted {restarts} times before")
                else:
                    _log.warning("trainer %d died; it is restarted", number)
                    begin(number)
            return results
        except (KeyboardInterrupt, TrainerFailed):
            stopping()
            raise
        finally:
            self._end(threads)

    def _end(self, threads: set[threading.Thread]) -> None:
        for link in self._links.values():
            link.kill()
        deadline = time.monotonic() + GRACE
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                _log.error("%s makes no request any more, and is left behind", thread.name)

    def stop(self) -> None:
        self._stopped.set()
        if self._ticker.is_alive():
            self._ticker.join()
        for served in self._served.values():
            with served.lock:
                for service in (served.service, served.killed):
                    if service is not None:
                        service.rest()
                served.die()

    def kill(self, name: str) -> None:
        """Removes a service, as kill -9 would; or ends "trainer N" at its next request, or while it waits for a reply."""
        if name.startswith("trainer "):
            self._links[int(name.split()[1])].kill()
        else:
            self._served[name].die()

    def add(self, name: str, service: Service) -> _Served:
        """Serves a service of a trainer."""
        served = self._served[name] = _Served(lambda: service)
        return served

    def restart(self, name: str) -> None:
        """Starts a killed service again."""
        served = self._served[name]
        with served.lock:  # waits for a call of the killed one
            if served.killed is not None:  # a process that is killed ends what it writes
                served.killed.rest()
            service = served.make()
            service.tick()  # may raise: then nothing was given to it
            served.service = service

    def post(self, request: Envelope, respond: Respond, timeout: float) -> None:
        """Gives one request of a link to its service; respond(answer) is called at most once, now or later."""
        served = self._served.get(request.service)
        if served is None or served.service is None:
            return respond(Gone("it does not run"))
        caller = object()
        served.callers.add(caller)
        taken = served.lock.acquire(timeout=timeout)
        served.callers.discard(caller)
        if not taken:
            return respond(Timeout(f"it was busy for {timeout:g} s"))
        try:
            service = served.service
            if service is None:
                return respond(Gone("it does not run"))
            served.take(service, request, respond)
        finally:
            served.lock.release()

    def _tick(self) -> None:
        while not self._stopped.wait(TICK):
            for name, served in list(self._served.items()):
                with served.lock:
                    try:
                        if served.service is not None:
                            served.service.tick()
                    except ClusterError as error:
                        _log.error("%s: %s", name, error)
                    except Exception:  # the other services still tick
                        _log.exception("%s: a tick failed", name)


class _Replies:
    """The replies to the requests of one send()."""

    def __init__(self, count: int):
        self.answers: list[Answer | None] = [None] * count
        self.done = threading.Event()
        self._lock, self._left = threading.Lock(), count

    def put(self, index: int, answer: Answer) -> None:
        with self._lock:
            if self.answers[index] is None:
                self.answers[index] = answer
                self._left -= 1
            if not self._left:
                self.done.set()


class _ThreadLink(TrainerLink):
    def __init__(self, engine: ThreadEngine):
        self._engine, self._killed = engine, False
        self._open: set[_Replies] = set()
        self._own: list[_Served] = []

    def serve(self, name: str, service: Service) -> str:
        self._own.append(self._engine.add(name, service))
        return name

    def learn(self, name: str, address: str) -> None:
        """Does nothing: all services of the process are known."""

    def kill(self) -> None:
        """Raises Killed in all calls of send(), from now on, and ends what serve() has started."""
        self._killed = True
        for served in self._own:
            served.die()
        for replies in list(self._open):
            replies.done.set()

    def send(self, requests: Sequence[Envelope], timeout: float) -> list[Answer]:
        end = time.monotonic() + timeout
        replies = _Replies(len(requests))
        self._open.add(replies)
        try:
            for index, request in enumerate(requests):
                self._require_alive()
                self._engine.post(request, partial(replies.put, index), timeout)
            if requests:
                replies.done.wait(max(0.0, end - time.monotonic()))
            self._require_alive()
        finally:
            self._open.discard(replies)
        late = Timeout(f"no reply in {timeout:g} s")
        return [late if answer is None else answer for answer in replies.answers]

    def _require_alive(self) -> None:
        if self._killed:
            raise Killed


def _made(make: Callable[[Link], Service], engine: ThreadEngine) -> Service:
    return make(engine.link())


def _live(
    work: Callable[[int, TrainerLink], Any],
    number: int,
    link: TrainerLink,
    ended: SimpleQueue[tuple[int, Any, BaseException | None]],
) -> None:
    try:
        ended.put((number, work(number, link), None))
    except BaseException as error:
        ended.put((number, None, error))
