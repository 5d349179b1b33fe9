# ThreadEngine: runs trainers and services of a job in threads of one process.
from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any

from .engine import Answer, Engine, Envelope, Killed, Link, Service
from .errors import ClusterError, Gone, Timeout, TrainerFailed

TICK = 0.1
"""Seconds from one tick of the services to the next."""
GRACE = 10.0
"""Seconds for trainers to reach their next request when a job is stopped early."""
_log = logging.getLogger(__name__)


class _Served:
    """A service. service: None after kill(); lock: serialises calls, also across restarts."""

    def __init__(self, make: Callable[[], Service]):
        self.make, self.lock = make, threading.Lock()
        self.service: Service | None = make()


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

    def run_trainers(self, work: Callable[[int, Link], Any], count: int, restarts: int) -> list[Any]:
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
        finally:
            self._end(threads)

    def _end(self, threads: set[threading.Thread]) -> None:
        for link in self._links.values():
            link.killed = True
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
            served.service = None

    def kill(self, name: str) -> None:
        """Removes a service, as kill -9 would; or ends "trainer N" at its next request."""
        if name.startswith("trainer "):
            self._links[int(name.split()[1])].killed = True
        else:
            self._served[name].service = None

    def restart(self, name: str) -> None:
        """Starts a killed service again."""
        served = self._served[name]
        with served.lock:  # waits for a call of the killed one
            served.service = served.make()
            served.service.tick()

    def call(self, request: Envelope, timeout: float) -> Answer:
        """Handles one request of a link."""
        served = self._served.get(request.service)
        if served is None or served.service is None:
            return Gone("it does not run")
        if not served.lock.acquire(timeout=timeout):
            return Timeout(f"it was busy for {timeout:g} s")
        try:
            service = served.service
            if service is None:
                return Gone("it does not run")
            reply = service.handle(request.header, request.arrays)
            return reply if served.service is service else Gone("it died before it answered")
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


class _ThreadLink(Link):
    def __init__(self, engine: ThreadEngine):
        self._engine, self.killed = engine, False

    def send(self, requests: Sequence[Envelope], timeout: float) -> list[Answer]:
        answers = []
        for request in requests:
            self._require_alive()
            answers.append(self._engine.call(request, timeout))
        self._require_alive()
        return answers

    def _require_alive(self) -> None:
        if self.killed:
            raise Killed


def _made(make: Callable[[Link], Service], engine: ThreadEngine) -> Service:
    return make(engine.link())


def _live(
    work: Callable[[int, Link], Any], number: int, link: Link, ended: SimpleQueue[tuple[int, Any, BaseException | None]]
) -> None:
    try:
        ended.put((number, work(number, link), None))
    except BaseException as error:
        ended.put((number, None, error))
