# Client: how a part of a job asks services: until they answer, and as long as they say that it is to wait.
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .engine import Envelope, Link
from .errors import ClusterError, StorageError, Timeout
from .messages import R, Request, Wait, decode_reply, encode
from .process_log import ProcessLogger

OnWait = Callable[[int, Wait], None]
Result = Any | ClusterError
"""The reply, or the error."""
_log = ProcessLogger(__name__)


class Ask(NamedTuple):
    """A request for a service."""

    service: str
    request: Request[Any]


class _Open:
    """An Ask that has no result yet."""

    def __init__(self, index: int, ask: Ask, job: str, now: float):
        self.index, self.ask = index, ask
        self.message = Envelope(ask.service, *encode(job, ask.request))
        self.since, self.next, self.pause = now, now, 0.0
        self.waits = False

    def again(self, now: float, waits: bool, shortest: float, longest: float) -> None:
        if waits != self.waits:
            self.since, self.pause, self.waits = now, 0.0, waits
        self.pause = min(max(2 * self.pause, shortest), longest)
        self.next = now + self.pause


class Client:
    """timeout: seconds in which a service must be reached; it may not be there yet, or be begun again meanwhile, or be
    the coordinator, whose disk is full for a while.
    wait_timeout: seconds for a reply that depends on others. attempt: seconds for one message.

    Every request may come twice to a service, which has to know it: (trainer, step), a token, a key.
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
        self._logged: dict[str, float] = {}

    def ask(self, service: str, request: Request[R]) -> R:
        """The reply of one service; an error in it is raised, and says where it is from."""
        reply: R = required(self.ask_all([Ask(service, request)]))[0]
        return reply

    def ask_all(self, asks: Sequence[Ask], on_wait: OnWait | None = None) -> list[Result]:
        """The reply, or the error, of each service, in their order. on_wait(index, reply) is called for each reply
        that says that it is to be asked again."""
        now = self._clock()
        open_ones = [_Open(index, ask, self._job, now) for index, ask in enumerate(asks)]
        results: list[Any] = [None] * len(asks)
        while open_ones:
            now = self._clock()
            due = [one for one in open_ones if one.next <= now]
            if not due:
                self._sleep(min(one.next for one in open_ones) - now)
                continue
            answers = self._link.send([one.message for one in due], self._attempt)
            for one, answer in zip(due, answers):
                result = self._result(one, answer, on_wait)
                if result is not None:
                    results[one.index] = result
                    open_ones.remove(one)
        return results

    def notify_all(self, asks: Sequence[Ask], timeout: float = 1.0) -> None:
        """Sends each once: for what services would come to know by themselves, a little later."""
        self._link.send([Envelope(ask.service, *encode(self._job, ask.request)) for ask in asks], timeout)

    def once(self, service: str, request: Request[R], timeout: float = 1.0) -> R:
        """The reply to one message: for what is asked again and again. Timeout where there is no reply."""
        (answer,) = self._link.send([Envelope(service, *encode(self._job, request))], timeout)
        if isinstance(answer, ClusterError):
            raise Timeout(f"{service}: {answer}")
        reply: R = required([_understood(Ask(service, request), answer)])[0]
        return reply

    def _result(self, one: _Open, answer: Any, on_wait: OnWait | None) -> Result | None:
        """None while the service is to be asked again."""
        service, now = one.ask.service, self._clock()
        result = answer if isinstance(answer, ClusterError) else _understood(one.ask, answer)
        # A coordinator does nothing that it can't write down; a server goes on without its checkpoint.
        if result is answer or (isinstance(result, StorageError) and service == "coordinator"):
            one.again(now, False, 0.01, 0.5)
            self._log_once(service, now - one.since, result)
            if now - one.since < self._timeout:
                return None
            return Timeout(f"{service}: no answer in {self._timeout:g} s: {answer}") if result is answer else result
        if not isinstance(result, Wait):
            return result
        one.again(now, True, 0.001, 0.02)
        if now - one.since >= self._wait_timeout:
            return Timeout(f"{service}: what it was asked for is not there after {self._wait_timeout:g} s")
        if on_wait is not None:
            on_wait(one.index, result)
        return None

    def _log_once(self, service: str, seconds: float, error: ClusterError) -> None:
        now = self._clock()
        if seconds > 0.5 and now - self._logged.get(service, -1e9) >= self.LOG_SECONDS:
            self._logged[service] = now
            _log.warning("%s does not do what it is asked for, since %.1f s: %s", service, seconds, error)


def required(results: Sequence[Result]) -> list[Any]:
    """The replies; the first error among them is raised."""
    replies = []
    for result in results:
        if isinstance(result, ClusterError):
            raise result
        replies.append(result)
    return replies


def _understood(ask: Ask, answer: Any) -> Result:
    try:
        return decode_reply(ask.request.reply, *answer)
    except ClusterError as error:
        return type(error)(f"{ask.service}: {error}")
