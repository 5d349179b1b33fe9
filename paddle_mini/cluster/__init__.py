# Training by several trainers and parameter servers.
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
from .view.watch import ServerStatus, Snapshot, TrainerStatus

__all__ = [
    "AlreadyInitialised", "Block", "ClusterError", "Gone", "JobResult", "Malformed", "NotElected", "NotFinite",
    "NotInitialised", "ParameterInfo", "ServerStatus", "Snapshot", "Stale", "StaleToken", "StorageError", "Timeout",
    "Trainer", "TrainerFailed", "TrainerStatus", "UnknownParameter", "WrongDtype", "WrongJob", "WrongRow", "WrongShape",
    "WrongVersion", "join", "plan_shards", "run", "save_model",
]
