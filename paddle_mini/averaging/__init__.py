# Averages of parameters: the schemes and lengths for optimizer.ParameterAverage, and averages made after training.
"""optimizer.ParameterAverage(optimizer, scheme) averages parameters while the program trains; a scheme gives the weight of each
step. Lengths are numbers of steps, or steps(), samples(), epochs() and fraction(). synthesize() makes averages from
checkpoints."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..renamed import show_public, unknown
from .lengths import Length, epochs, fraction, samples, steps
from .profiles import LearningRateDecay
from .scheme import Scheme
from .schemes import BiasCorrected, Exponential, Latest, Polynomial, Power, Tail, Uniform, Window

if TYPE_CHECKING:
    from .synthesis import Checkpoint, Plan, synthesize

__all__ = [
    "BiasCorrected",
    "Checkpoint",
    "Exponential",
    "Latest",
    "LearningRateDecay",
    "Length",
    "Plan",
    "Polynomial",
    "Power",
    "Scheme",
    "Tail",
    "Uniform",
    "Window",
    "epochs",
    "fraction",
    "samples",
    "steps",
    "synthesize",
]


if not TYPE_CHECKING:  # a type checker would take every name for one of the module's

    def __getattr__(name: str) -> Any:
        if name not in ("Checkpoint", "Plan", "synthesize"):  # they are imported when they are used: they read files
            raise unknown("averaging", name, sys.modules[__name__])
        value = globals()[name] = getattr(import_module(".synthesis", __name__), name)
        return value


show_public(globals())
