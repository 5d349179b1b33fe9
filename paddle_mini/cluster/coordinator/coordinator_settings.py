# CoordinatorSettings: the settings of a coordinator.
from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import shown
from ..errors import Malformed


@dataclass(frozen=True)
class CoordinatorSettings:
    """Raises Malformed for invalid values.

    job: its name; requests of another job are rejected. run: identifies one start of the job: a coordinator that
    resumes in the directory of an earlier run waits for its trainers again. trainers: the job starts when this many
    have joined; servers: their number. lease: seconds without a message after which a process is lost. init_lease:
    seconds in which an initialiser must finish or renew its lease. task_timeout, task_failures: as for Tasks. facts:
    JSON values that each process gets when it joins.
    """

    job: str
    trainers: int
    servers: int
    lease: float = 10.0
    init_lease: float = 60.0
    task_timeout: float = 1200.0
    task_failures: int = 3
    run: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.job, str) or not 1 <= len(self.job) <= 200:
            raise Malformed(f"job is {shown(self.job)}, it must be text of 1 to 200 characters")
        for name, least in (("trainers", 1), ("servers", 0), ("task_failures", 1)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise Malformed(f"{name} is {shown(value)}, it must be an integer, at least {least}")
        for name in ("lease", "init_lease", "task_timeout"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not (math.isfinite(value) and value > 0):
                raise Malformed(f"{name} is {shown(value)}, it must be a number of seconds above 0")
        try:
            json.dumps(dict(self.facts), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise Malformed(f"facts are not a JSON object: {error}") from None
