# ServerSettings: the settings that all parameter servers of a job share.
from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import shown
from ..errors import Malformed

BY_TRAINERS = ("delta", "elastic")
"""Modes in which trainers optimize, and push differences."""
MODES = ("async", "sync", *BY_TRAINERS)


@dataclass(frozen=True)
class ServerSettings:
    """Raises Malformed for invalid values.

    mode: "async", each push is applied at once; "sync", the mean of all trainers' gradients of a step; "delta",
    trainers optimize and push differences, of which 1 / trainers is added; "elastic", of which alpha is added.
    trainers: the number until the server gets the list of members.
    stale_limit, of async: a push is dropped that was made from a version more than stale_limit times the number of
    trainers behind; None: never.
    alpha, of elastic: None is 0.9 / trainers (Zhang, Choromanska & LeCun 2015).
    checkpoint_seconds: from one checkpoint to the next; all servers write at the same moments.
    """

    job: str
    servers: int
    trainers: int
    mode: str = "async"
    stale_limit: float | None = None
    alpha: float | None = None
    checkpoint_seconds: float = 600.0

    def __post_init__(self) -> None:
        if not isinstance(self.job, str) or type(self.servers) is not int or type(self.trainers) is not int:
            raise Malformed("job must be text, servers and trainers integers")
        limit = self.stale_limit
        if any(isinstance(number, bool) or not isinstance(number, (int, float, type(None))) for number in (limit, self.alpha)):
            raise Malformed("stale_limit and alpha must be numbers, or None")
        if isinstance(self.checkpoint_seconds, bool) or not isinstance(self.checkpoint_seconds, (int, float)):
            raise Malformed(f"checkpoint_seconds is {shown(self.checkpoint_seconds)}, it must be a number of seconds above 0")
        for right, problem in (
            (1 <= len(self.job) <= 200, f"job is {shown(self.job)}, it must have 1 to 200 characters"),
            (self.servers >= 1, f"servers is {self.servers}, it must be at least 1"),
            (self.trainers >= 1, f"trainers is {self.trainers}, it must be at least 1"),
            (self.mode in MODES, f"mode is {shown(self.mode)}, it must be one of {', '.join(MODES)}"),
            (self.mode != "elastic" or self.trainers > 1, "elastic mode needs at least 2 trainers"),
            (limit is None or limit >= 0, f"stale_limit is {limit}, it must be at least 0"),
            (self.alpha is None or 0 < self.alpha < 1, f"alpha is {self.alpha}, it must be between 0 and 1"),
            (
                1e-6 <= self.checkpoint_seconds <= 1e9 or self.checkpoint_seconds == math.inf,
                f"checkpoint_seconds is {shown(self.checkpoint_seconds)}, it must be from 1e-6 to 1e9 seconds, or inf",
            ),
        ):
            if not right:
                raise Malformed(problem)

    @property
    def elastic_alpha(self) -> float:
        return 0.9 / self.trainers if self.alpha is None else self.alpha

    @property
    def by_trainers(self) -> bool:
        """Whether trainers optimize, and push differences."""
        return self.mode in BY_TRAINERS
