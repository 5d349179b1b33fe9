# Answering: base class of services; decodes requests, dispatches them to handlers and encodes replies.
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .errors import ClusterError
from .messages import Reply, Request, decode, encode_error, encode_reply
from .process_log import ProcessLogger
from .wire import Arrays

Handlers = Mapping[type[Request[Any]], Callable[[Any], Reply]]
_log = ProcessLogger(__name__)


class Answering:
    """Base of services. job: requests of other jobs are rejected. handlers: by the class of the request."""

    def __init__(self, job: str, handlers: Handlers):
        self._job, self.handlers = job, handlers
        self._known: dict[str, type[Request[Any]]] = {kind.name: kind for kind in handlers}

    def handle(self, header: bytes, arrays: Sequence[Any]) -> tuple[bytes, Arrays]:
        """Answers one request; calls must not overlap. Never raises: errors and internal failures become replies."""
        try:
            request = decode(self._job, self._known, header, arrays)
            reply = self.handlers[type(request)](request)
            self._answered(request, reply)
            return encode_reply(reply)
        except ClusterError as error:
            return encode_error(error.kind, str(error))
        except Exception as error:  # one request must not stop the service
            _log.exception("a request failed")
            return encode_error(ClusterError.kind, f"{type(error).__name__}: {error}")

    def _answered(self, request: Request[Any], reply: Reply) -> None:
        """Called after a request was handled."""
