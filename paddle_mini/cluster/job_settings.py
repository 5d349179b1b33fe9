# JobSettings: the settings that all processes of a job share.
from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from ..callsite import warn
from ..errors import shown
from .coordinator.coordinator_settings import CoordinatorSettings
from .errors import Malformed
from .servers.settings import BY_TRAINERS, MODES, ServerSettings

COLLECTIVE = "collective"


@dataclass(frozen=True)
class JobSettings:
    """See run(). job: the job's name; run: a unique text for each start. Malformed for invalid values."""

    job: str
    trainers: int
    servers: int
    mode: str = "async"
    local_steps: int = 1
    alpha: float | None = None
    stale_limit: float | None = None
    checkpoint_seconds: float = 600.0
    lease: float = 10.0
    timeout: float = 120.0
    wait_timeout: float = 600.0
    task_timeout: float = 1200.0
    nccl: bool = True
    run: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        if self.mode not in (*MODES, COLLECTIVE):
            raise Malformed(f"mode is {shown(self.mode)}, it must be one of {', '.join((*MODES, COLLECTIVE))}")
        self.server_settings()
        if type(self.local_steps) is not int or self.local_steps < 1:
            raise Malformed(f"local_steps is {shown(self.local_steps)}, it must be an integer, at least 1")
        if self.local_steps > 1 and not self.by_trainers:
            raise Malformed(f"local_steps is only supported in modes delta and elastic, not in {self.mode} mode")
        if type(self.nccl) is not bool:
            raise Malformed(f"nccl is {shown(self.nccl)}, it must be True or False")
        for name in ("lease", "timeout", "wait_timeout", "task_timeout"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e9:
                raise Malformed(f"{name} is {shown(value)}, it must be a number of seconds above 0")

    @property
    def by_trainers(self) -> bool:
        """Whether trainers optimize, and push differences."""
        return self.mode in BY_TRAINERS

    @property
    def heartbeat_seconds(self) -> float:
        """Seconds between two heartbeats of a process, which also carry its report: 1, or more to limit the job to 1000
        heartbeats a second, but at most a quarter of the lease."""
        return min(self.lease / 4, max(1.0, (self.trainers + self.servers) / 1000))

    @property
    def beat_seconds(self) -> float:
        """The former name of heartbeat_seconds."""
        warn("JobSettings.beat_seconds is deprecated: use heartbeat_seconds", DeprecationWarning)
        return self.heartbeat_seconds

    @property
    def is_collective(self) -> bool:
        """Whether trainers hold the parameters, and there are no servers."""
        return self.mode == COLLECTIVE

    def server_settings(self) -> ServerSettings:
        mode, servers = ("sync", 1) if self.is_collective else (self.mode, self.servers)  # collective mode only uses the rest
        return ServerSettings(self.job, servers, self.trainers, mode, self.stale_limit, self.alpha, self.checkpoint_seconds)

    def coordinator_settings(self) -> CoordinatorSettings:
        return CoordinatorSettings(
            self.job, self.trainers, self.servers, self.lease, task_timeout=self.task_timeout, run=self.run
        )

    def client_options(self) -> dict[str, Any]:
        return {"job": self.job, "timeout": self.timeout, "wait_timeout": self.wait_timeout, "attempt": self.timeout}
