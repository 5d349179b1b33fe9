# Answering: base class of services; decodes requests, dispatches them to handlers and encodes replies.
from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from .engine import Answer, Respond
from .errors import ClusterError
from .latencies import LatencyCounts
from .messages import Reply, Request, Wait, decode, encode_error, encode_reply
from .process_log import ProcessLogger
from .wire import Arrays

_log = ProcessLogger(__name__)


class Later(NamedTuple):
    """Returned by a handler in place of a reply that depends on other requests. again(): the reply, or Later, to be
    called when the service has changed."""

    again: Callable[[], Reply | Later]


Handlers = Mapping[type[Request[Any]], Callable[[Any], Reply | Later]]


class _Held(NamedTuple):
    """A request that waits for its reply. until: when its sender has to repeat it."""

    request: Request[Any]
    again: Callable[[], Reply | Later]
    respond: Respond
    until: float


class Answering:
    """Base of services. job: requests of other jobs are rejected. handlers: by the class of the request.

    The calls of a service must not overlap. Errors and internal failures become replies. latencies: seconds from a request
    to its answer.
    """

    def __init__(self, job: str, handlers: Handlers):
        self._job, self.handlers = job, handlers
        self._known: dict[str, type[Request[Any]]] = {kind.name: kind for kind in handlers}
        self.latencies = LatencyCounts()
        self._held: list[_Held] = []
        self._seen: Any = None

    def handle(self, header: bytes, arrays: Sequence[Any]) -> tuple[bytes, Arrays]:
        """Answers one request at once: where the reply depends on others, its sender has to repeat it."""
        answers: list[Any] = []
        self.take(header, arrays, answers.append, 0.0)
        return answers[0]

    def take(
        self, header: bytes, arrays: Sequence[Any], respond: Respond, patience: float, memory: memoryview | None = None
    ) -> None:
        """Answers one request by respond(answer), which is called once: now, or when the reply is known, during a later
        call of this service, but at the latest after `patience` seconds. memory: as in Service.take()."""
        begin, answer = time.perf_counter(), None
        try:
            request = decode(self._job, self._known, header, arrays)
            request.memory = memory
            respond = partial(self._timed, request.name, begin, respond)
            found = self.handlers[type(request)](request)
            if isinstance(found, Reply):
                answer = self._encoded(found, request)
            elif patience > 0:
                self._seen = self.progress() if not self._held else self._seen
                self._held.append(_Held(request, found.again, respond, time.monotonic() + patience))
            else:
                respond(self._encoded(Wait(), request))
        except Exception as error:
            answer = _refusal(error)
        if answer is not None:
            self.deliver(respond, answer)
        if self._held:
            self.release()

    def deliver(self, respond: Respond, answer: Answer) -> None:
        """Gives an answer that is known; a service may do so later."""
        respond(answer)

    def _timed(self, name: str, begin: float, respond: Respond, answer: Answer) -> None:
        self.latencies.add(name, time.perf_counter() - begin)
        respond(answer)

    def release(self) -> None:
        """Answers the held requests whose replies have become known, and those that were held long enough."""
        now, state = time.monotonic(), self.progress()
        changed, self._seen = state != self._seen, state
        if not changed and not any(now >= one.until for one in self._held[:1]):  # the oldest is the first, as all wait as long
            return
        held, self._held = self._held, []
        for one in held:
            found = self._again(one) if changed else Later(one.again)
            if not isinstance(found, Later):
                self.deliver(one.respond, found)
            elif now >= one.until:
                self.deliver(one.respond, self._encoded(Wait(), one.request))
            else:
                self._held.append(one._replace(again=found.again))
        if self._held and self.progress() != state:  # an answer has changed what others wait for
            self.release()

    def dismiss(self, answer: Answer) -> None:
        """Gives all held requests this answer."""
        held, self._held = self._held, []
        for one in held:
            one.respond(answer)

    def progress(self) -> Any:
        """The state that replies to held requests depend on: they are tried again when it has changed."""

    def _again(self, one: _Held) -> Answer | Later:
        try:
            found = one.again()
            return self._encoded(found, one.request) if isinstance(found, Reply) else found
        except Exception as error:
            return _refusal(error)

    def rest(self) -> None:
        """Nothing runs beside the requests."""

    def _encoded(self, reply: Reply, request: Request[Any]) -> tuple[bytes, Arrays]:
        self._answered(request, reply)
        return encode_reply(reply)

    def _answered(self, request: Request[Any], reply: Reply) -> None:
        """Called after a request was handled."""


def _refusal(error: Exception) -> tuple[bytes, Arrays]:
    """The reply to a request that raised an error."""
    if isinstance(error, ClusterError):
        return encode_error(error.kind, str(error))
    _log.error("a request failed", exc_info=error)  # one request must not stop the service
    return encode_error(ClusterError.kind, f"{type(error).__name__}: {error}")
