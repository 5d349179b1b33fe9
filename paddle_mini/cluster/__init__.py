# Distributed training with several trainers and parameter servers.
"""run() starts the trainers and servers of a job; in the function of a trainer, join() returns its Trainer, whose run() takes the
place of Executor.run. docs/cluster.md describes modes, checkpoints and failures."""

from ..renamed import show_public
from .errors import (
    AlreadyInitialised,
    ClusterError,
    Gone,
    Malformed,
    NotElected,
    NotFinite,
    NotInitialised,
    Stale,
    StaleToken,
    StorageError,
    Timeout,
    TrainerFailed,
    UnknownParameter,
    WrongDtype,
    WrongJob,
    WrongRow,
    WrongShape,
    WrongVersion,
)
from .job import JobResult, join, run, save_model
from .shards import Block, ParameterInfo, plan_shards
from .trainers.trainer import Trainer
from .view.watch import CollectiveStatus, RequestStatus, ServerStatus, Snapshot, TrainerStatus

__all__ = [
    "AlreadyInitialised",
    "Block",
    "ClusterError",
    "CollectiveStatus",
    "Gone",
    "JobResult",
    "Malformed",
    "NotElected",
    "NotFinite",
    "NotInitialised",
    "ParameterInfo",
    "RequestStatus",
    "ServerStatus",
    "Snapshot",
    "Stale",
    "StaleToken",
    "StorageError",
    "Timeout",
    "Trainer",
    "TrainerFailed",
    "TrainerStatus",
    "UnknownParameter",
    "WrongDtype",
    "WrongJob",
    "WrongRow",
    "WrongShape",
    "WrongVersion",
    "join",
    "plan_shards",
    "run",
    "save_model",
]

show_public(globals())
