# Where Ray places the processes of a job: their options, and what is said while it has no place for them.
from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import ray

from ..errors import shown
from .errors import Malformed, Timeout
from .process_log import ProcessLogger
from .ray_actors import NAMESPACE, ServiceActor
from .ray_head import HeadWatch

PATIENCE = 10.0
"""Seconds after which a record of the log says why Ray has not started a process yet."""
SHARE_OF_CPU = 0.001
"""A process mostly waits for others and has its own threads, so Ray need not reserve CPUs for it; but processes without any
resources are placed at random, not on one machine after another."""
_COMMON = {"num_cpus": SHARE_OF_CPU, "scheduling_strategy": "SPREAD", "max_task_retries": 0, "namespace": NAMESPACE}
_OF_THE_ENGINE = ("name", "namespace", "lifetime", "get_if_exists")
_MACHINE = "ray.io/node-id"
"""The label that Ray gives each machine."""
_log = ProcessLogger(__name__)


def actor_options(argument: str, options: Any, restarts: int) -> dict[str, Any]:
    """Options of the actors of a job: `options` of the user, an argument of this name, over those that they have in common.
    Malformed if Ray refuses them."""
    if not isinstance(options or {}, Mapping):
        raise Malformed(f"{argument} is {shown(options)}, it must be a dictionary of Ray's options of actors")
    own = next((name for name in options or {} if name in _OF_THE_ENGINE), None)
    if own is not None:
        raise Malformed(f"{argument} has {shown(own)}, which the engine sets itself")
    merged = {**_COMMON, "max_restarts": restarts, **(options or {})}
    with options_of(argument):
        ray.remote(ServiceActor).options(**merged)
    return merged


@contextmanager
def options_of(argument: str) -> Iterator[None]:
    """Malformed for options that Ray refuses, some of them only when it makes an actor."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise Malformed(f"{argument}: Ray refuses an option: {''.join(map(str, error.args))}") from error


def elsewhere(options: Mapping[str, Any], machines: Collection[str]) -> dict[str, Any]:
    """The options, for a place that is on none of these machines, if there is another one. Ray may need a minute to notice
    that a machine has vanished; until then it places processes there, which then die. What the user says of places holds."""
    if not machines or options["scheduling_strategy"] != "SPREAD" or "label_selector" in options:
        return dict(options)
    others = {"label_selector": {_MACHINE: f"!in({','.join(sorted(machines))})"}}
    return {**options, **others, "fallback_strategy": [{"label_selector": {}}]}


class Begins:
    """Processes that Ray starts, with the same options. limit: seconds in which it must."""

    def __init__(self, head: HeadWatch, options: Mapping[str, Any], limit: float):
        self._head, self._options, self._limit = head, options, limit
        self._is_logged = False

    def require(self, names: Mapping[Any, str]) -> None:
        """Returns when all have begun; Timeout. names: by the references of their first replies."""
        end, ready = time.monotonic() + self._limit, list[Any]()
        while len(ready) < len(names):
            left = end - time.monotonic()
            ready = self._head.wait(list(names), len(names), min(PATIENCE, left))
            missing = [name for one, name in names.items() if one not in ready]
            if missing and left <= PATIENCE:
                raise Timeout(f"Ray has not started {missing[0]} in {self._limit:g} s: {self._reason() or 'see `ray status`'}")
            self.explain(missing)

    def explain(self, missing: Sequence[str]) -> None:
        """Logs once why Ray has no place for these, if the resources of the cluster say it."""
        reason = self._reason() if missing and not self._is_logged else ""
        if reason:
            self._is_logged = True
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            _log.warning("%s%s: Ray has no place yet: %s", missing[0], more, reason)

    def _reason(self) -> str:
        """The resources that the cluster lacks for a process; "" if it lacks none."""
        self._head.confirm()  # the calls below return only when the head answers
        machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        free = ray.available_resources()
        reasons = []
        for name, amount in _needs(self._options).items():
            total = sum(one.get(name, 0) for one in machines)
            if max((one.get(name, 0) for one in machines), default=0) < amount:
                reasons.append(f"no machine of the cluster has {name} {amount:g}")
            elif free.get(name, 0) < amount:
                reserved = f"{total - free.get(name, 0):g} of the cluster's {total:g} are reserved"
                reasons.append(f"it needs {name} {amount:g}, and {reserved}")
        return "; ".join(reasons)


def _needs(options: Mapping[str, Any]) -> dict[str, float]:
    """The resources that Ray reserves for an actor."""
    amounts = {"CPU": options.get("num_cpus"), "GPU": options.get("num_gpus"), "memory": options.get("memory")}
    return {name: amount for name, amount in {**amounts, **(options.get("resources") or {})}.items() if amount}
