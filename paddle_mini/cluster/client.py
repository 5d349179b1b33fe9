# Client: sends requests to services, with retries until they answer and while they reply "wait".
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .engine import Envelope, Link
from .errors import ClusterError, StorageError, Timeout
from .messages import R, Reply, Request, Wait, decode_reply, encode
from .process_log import ProcessLogger

OnWait = Callable[[int, Wait], None]
LONGEST_HOLD = 5.0
"""Seconds for which a service may keep a request whose reply depends on others."""
Result = Any | ClusterError
"""The reply, or the error."""
_log = ProcessLogger(__name__)


class Call(NamedTuple):
    """A request and its destination service."""

    service: str
    request: Request[Any]


class _Open:
    """A pending Call."""

    def __init__(self, index: int, call: Call, job: str, now: float, patience: float):
        self.index, self.call = index, call
        self.message = Envelope(call.service, *encode(job, call.request), patience)
        self.since, self.next, self.pause = now, now, 0.0
        self.waits = False

    def again(self, now: float, waits: bool, shortest: float, longest: float) -> None:
        if waits != self.waits:
            self.since, self.pause, self.waits = now, 0.0, waits
        self.pause = min(max(2 * self.pause, shortest), longest)
        self.next = now + self.pause


class Client:
    """timeout: seconds in which a service must answer; it may not have started yet, or restart meanwhile, or be the
    coordinator while its disk is full.
    wait_timeout: seconds for a reply that depends on other processes. attempt: seconds for one message.

    A request may reach a service twice, which must recognise the repetition: by (trainer, step), a token, a key.
    """

    LOG_SECONDS = 5.0

    def __init__(
        self,
        link: Link,
        job: str,
        timeout: float = 60.0,
        wait_timeout: float = 600.0,
        attempt: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self._link, self._job = link, job
        self._timeout, self._wait_timeout, self._attempt = timeout, wait_timeout, attempt
        self._clock, self._sleep = clock, sleep
        # A service that keeps a request answers it before this client takes it for lost.
        self._patience = min(LONGEST_HOLD, attempt / 2, wait_timeout / 4)
        self._logged: dict[str, float] = {}

    def request(self, service: str, request: Request[R]) -> R:
        """The reply of one service; raises an error in it, with the name of the service."""
        reply: R = required(self.request_all([Call(service, request)]))[0]
        return reply

    def request_all(self, calls: Sequence[Call], on_wait: OnWait | None = None, asks_again: bool = False) -> list[Result]:
        """The reply, or the error, of each service, in their order. on_wait(index, reply) is called for each "wait"
        reply, after which the request is repeated. asks_again: after it, services that have answered get their requests
        again, too: one that restarted since has lost them, and what this client waits for may depend on that."""
        now = self._clock()
        every = [_Open(index, call, self._job, now, self._patience) for index, call in enumerate(calls)]
        results: list[Any] = [None] * len(calls)
        while open_ones := [one for one in every if results[one.index] is None]:
            now = self._clock()
            due = [one for one in open_ones if one.next <= now]
            if not due:
                self._sleep(min(one.next for one in open_ones) - now)
                continue
            answers = self._link.send([one.message for one in due], self._attempt)
            for one, answer in zip(due, answers):
                results[one.index] = self._result(one, answer, on_wait)
            if asks_again and any(one.waits and results[one.index] is None for one in due):
                now = self._clock()
                for one in every:
                    if isinstance(results[one.index], Reply):
                        results[one.index] = None
                        one.again(now, False, 0.0, 0.0)
        return results

    def notify_all(self, calls: Sequence[Call], timeout: float = 1.0) -> None:
        """Sends each request once and ignores the replies: for notifications that services would otherwise learn
        later."""
        self._link.send([Envelope(call.service, *encode(self._job, call.request)) for call in calls], timeout)

    def once(self, service: str, request: Request[R], timeout: float = 1.0) -> R:
        """Sends a request once, without retries: for periodic requests. Timeout if no reply arrives."""
        (answer,) = self._link.send([Envelope(service, *encode(self._job, request))], timeout)
        if isinstance(answer, ClusterError):
            raise Timeout(f"{service}: {answer}")
        reply: R = required([_understood(Call(service, request), answer)])[0]
        return reply

    def _result(self, one: _Open, answer: Any, on_wait: OnWait | None) -> Result | None:
        """None while the request has to be repeated."""
        service, now = one.call.service, self._clock()
        result = answer if isinstance(answer, ClusterError) else _understood(one.call, answer)
        # A coordinator does nothing that it can't make durable; a server continues without its checkpoint.
        if result is answer or (isinstance(result, StorageError) and service == "coordinator"):
            one.again(now, False, 0.01, 0.5)
            self._log_once(service, now - one.since, result)
            if now - one.since < self._timeout:
                return None
            return Timeout(f"{service}: no answer in {self._timeout:g} s: {answer}") if result is answer else result
        if not isinstance(result, Wait):
            return result
        one.again(now, True, 0.001, 0.02)
        if now - one.since >= self._wait_timeout and not one.call.request.is_patient:
            return Timeout(f"{service}: it still replies 'wait' after {self._wait_timeout:g} s")
        if on_wait is not None:
            on_wait(one.index, result)
        return None

    def _log_once(self, service: str, seconds: float, error: ClusterError) -> None:
        now = self._clock()
        if seconds > 0.5 and now - self._logged.get(service, -1e9) >= self.LOG_SECONDS:
            self._logged[service] = now
            _log.warning("%s has failed for %.1f s: %s", service, seconds, error)


def required(results: Sequence[Result]) -> list[Any]:
    """The replies; raises the first error among them."""
    replies = []
    for result in results:
        if isinstance(result, ClusterError):
            raise result
        replies.append(result)
    return replies


def _understood(call: Call, answer: Any) -> Result:
    try:
        return decode_reply(call.request.reply, *answer)
    except ClusterError as error:
        return type(error)(f"{call.service}: {error}")
