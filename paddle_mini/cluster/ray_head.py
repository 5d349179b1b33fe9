# The head of a Ray cluster: connects to it, with Ray's token if there is one, and notices when it no longer answers.
from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..environment import value_of
from .errors import ClusterError

POLL = 1.0
"""Seconds between two requests to the head."""


class HeadLost(ClusterError):
    """Ray's head does not answer: Ray can neither start nor restart anything, and ends all its processes within a
    minute."""


def use_token() -> None:
    """Has Ray use its token, where one is set or stored and RAY_AUTH_MODE does not say otherwise: `ray start` does so, but
    ray.init(address) does not. Without effect after Ray was imported. A cluster without tokens refuses it: token_hint()."""
    stored = Path.home() / ".ray" / "auth_token"
    has_token = value_of("RAY_AUTH_TOKEN") or value_of("RAY_AUTH_TOKEN_PATH") or stored.exists()
    if has_token and not value_of("RAY_AUTH_MODE") and "ray" not in sys.modules:
        os.environ["RAY_AUTH_MODE"] = "token"


def token_hint() -> str:
    """The hint for a process that Ray ends before it begins: without tokens the cluster sends none, and this process then refuses
    to say that it needs the other one."""
    if value_of("RAY_AUTH_MODE") != "token":
        return ""
    return "; this job uses Ray's token: set RAY_AUTH_MODE=disabled if the cluster uses none"


def connect(address: str, **options: Any) -> Any:
    """ray.init(); ClusterError if there is no such cluster."""
    import ray

    try:
        return ray.init(address, **options)
    except (ConnectionError, RuntimeError, ray.exceptions.RayError) as error:
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
        raise ClusterError(
            f"can't use Ray at '{address}': {reason}; is it running there, does this machine reach its ports, and, where it "
            "uses tokens, is the cluster's token in ~/.ray/auth_token or RAY_AUTH_TOKEN? See docs/cluster.md"
        ) from None


class HeadWatch:
    """Asks the head for its nodes, in a thread. limit: seconds without an answer after which it counts as lost: fewer than
    the 60 after which Ray ends this process without an error."""

    def __init__(self, limit: float):
        self._limit, self._answered, self._over = limit, time.monotonic(), threading.Event()
        threading.Thread(target=self._ask, name="Ray's head", daemon=True).start()

    def _ask(self) -> None:
        import ray

        while not self._over.is_set():
            try:
                ray.nodes()  # returns only when the head answers
                self._answered = time.monotonic()
            except Exception:  # Ray is shut down, or the head is lost: require() says so
                pass
            self._over.wait(POLL)

    @property
    def is_lost(self) -> bool:
        return time.monotonic() - self._answered > self._limit

    def require(self) -> None:
        """HeadLost if the head has not answered for too long."""
        if self.is_lost:
            raise HeadLost(
                f"Ray's head has not answered for {self._limit:g} s: start Ray again, and then the job, which resumes "
                "from its directory"
            )

    def wait(self, parts: Sequence[Any], count: int, seconds: float = math.inf) -> list[Any]:
        """The first `count` of these results of Ray that are known; fewer after so many seconds. HeadLost."""
        import ray

        end, ready = time.monotonic() + seconds, list[Any]()
        while len(ready) < count and time.monotonic() < end:
            ready, _ = ray.wait(list(parts), num_returns=count, timeout=min(POLL, max(0.0, end - time.monotonic())))
            self.require()
        return ready

    def confirm(self) -> None:
        """Returns when the head has answered once more; HeadLost."""
        begin = time.monotonic()
        while self._answered <= begin:
            self.require()
            time.sleep(POLL / 10)

    def stop(self) -> None:
        self._over.set()
