# The checkpoints of trainers, in collective mode, in the directory of a job.
from __future__ import annotations

import os

from .._core import Error
from ..io.checkpoint_folder import CheckpointFolder
from .process_log import ProcessLogger

FOLDER = "trainers"
"""Their folder."""
_log = ProcessLogger(__name__)


def saved_step(directory: str) -> int:
    """The step of the newest one in the directory of a job; 0 without one, or if the disk fails: then training continues with
    the state of a trainer."""
    try:
        found = CheckpointFolder(os.path.join(directory, FOLDER)).found()
    except Error as error:
        _log.error("%s", error)
        return 0
    return found[-1].step if found else 0
