# CoordinatorSettings: what a coordinator is told about its job.
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
    """Malformed for what can't be.

    job: its name; what another job says is refused. run: which begin of it this is: one that goes on in a directory of
    an earlier one waits for its trainers anew. trainers: the job starts when so many are there; servers: how many
    there are. lease: seconds that a part may be silent. init_lease: seconds in which an initialiser must be done, or
    ask again. task_timeout, task_failures: as of Tasks. facts: what each part is told when it comes, JSON values.
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
        for name in ("trainers", "servers", "task_failures"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise Malformed(f"{name} is {shown(value)}, it must be a whole number, at least 1")
        for name in ("lease", "init_lease", "task_timeout"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not (math.isfinite(value) and value > 0):
                raise Malformed(f"{name} is {shown(value)}, it must be a number of seconds above 0")
        try:
            json.dumps(dict(self.facts), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise Malformed(f"facts are no JSON object: {error}") from None
