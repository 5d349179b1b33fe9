# Schedules: when the learning-rate schedules of a program take their steps.
from __future__ import annotations

from collections.abc import Mapping

from .._core import ProgramError
from ..errors import shown
from ..lr.plateau import ReduceOnPlateau
from ..lr.scheduler import LRScheduler
from ..program import Program


def require_unit(schedule: str) -> None:
    if schedule not in ("step", "epoch"):
        raise ProgramError(f"fit: schedule is {shown(schedule)}, it must be 'step' or 'epoch'")


class Schedules:
    """The learning-rate schedules of a program, which take one step each "step" or "epoch"; ReduceOnPlateau each epoch."""

    def __init__(self, program: Program, unit: str):
        each = {id(one): one for one in program.schedules.values() if isinstance(one, LRScheduler)}.values()
        self._of_steps = [one for one in each if unit == "step" and not isinstance(one, ReduceOnPlateau)]
        self._of_epochs = [one for one in each if one not in self._of_steps]

    def end_step(self) -> None:
        for schedule in self._of_steps:
            schedule.step()

    def end_epoch(self, values: Mapping[str, float]) -> None:
        for schedule in self._of_epochs:
            if isinstance(schedule, ReduceOnPlateau):
                schedule.step(values.get("val_loss", values["loss"]))
            else:
                schedule.step()
