# Format 1 of coordinator.json, which was one file of the whole state: as tables of format 2.
from __future__ import annotations

from typing import Any


def tables_of(state: dict[str, Any]) -> dict[str, Any]:
    """The tables of a state of format 1. A lease and a pending task have their whole time again, as after each restart;
    who was lost before is not known."""
    tasks, leases = state["tasks"], state["leases"]
    done = [[number, False] for number in tasks["done"]]
    return {
        **_members("trainers", state["trainers"]),
        **_members("servers", state["servers"]),
        "leases.held": [
            [right, [trainer, life, token, max(left, 1.0)]] for right, trainer, life, token, left in leases["leases"]
        ],
        "leases.last": [["token", leases["token"]]],
        "initialisation.finished": [[token, True] for token in state["finished"]],
        "tasks.data": [
            ["chunks", tasks["chunks"]],
            ["chunks_per_task", tasks["chunks_per_task"]],
            ["pass", tasks["pass"]],
            ["end", len(tasks["todo"])],
        ],
        "tasks.todo": [[place, number] for place, number in enumerate(tasks["todo"])],
        "tasks.pending": [[number, [trainer, epoch, serial]] for number, trainer, epoch, _, serial in tasks["pending"]],
        "tasks.ended": done + [[number, True] for number in tasks["failed"]],
        "tasks.epochs": [[number, epoch] for number, epoch in enumerate(tasks["epochs"]) if epoch],
        "tasks.failures": [[number, count] for number, count in enumerate(tasks["failures"]) if count],
        "tasks.asked": [[trainer, [life, serial]] for trainer, life, serial in tasks["asked"]],
        "job.facts": [[name, state[name]] for name in ("started", "restarts", "run")],
    }


def _members(what: str, state: dict[str, Any]) -> dict[str, Any]:
    restarts = {number: count for number, count in state["restarts"]}
    return {
        f"{what}.present": [[number, [key, incarnation, facts]] for number, key, incarnation, facts, _ in state["present"]],
        f"{what}.past": [
            [number, [incarnation, restarts.get(number, 0), False]] for number, incarnation in state["incarnations"]
        ],
        f"{what}.counts": [["version", state["version"]]],
    }
