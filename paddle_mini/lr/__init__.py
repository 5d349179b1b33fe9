# Learning-rate schedules: as operators of the program, and as objects that step() moves on.
"""Functions such as exponential_decay append operators, so a program carries its schedule wherever it
runs. Classes such as ExponentialDecay are given to an optimizer as learning_rate: they add no
operator; the Executor writes their rate before each run, and step() moves them on."""

from ..layers.learning_rate import (
    cosine_decay,
    exponential_decay,
    inverse_time_decay,
    linear_lr_warmup,
    natural_exp_decay,
    noam_decay,
    piecewise_decay,
    polynomial_decay,
    pow2_decay_with_linear_warmup,
)
from .cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .decays import (
    CosineAnnealingDecay,
    ExponentialDecay,
    InverseTimeDecay,
    LambdaDecay,
    LinearLR,
    MultiplicativeDecay,
    MultiStepDecay,
    NaturalExpDecay,
    NoamDecay,
    PiecewiseDecay,
    PolynomialDecay,
    StepDecay,
)
from .plateau import ReduceOnPlateau
from .scheduler import LRScheduler
from .swa import SWALR
from .warmup import LinearWarmup

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "OneCycleLR",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "SWALR",
    "StepDecay",
    "cosine_decay",
    "exponential_decay",
    "inverse_time_decay",
    "linear_lr_warmup",
    "natural_exp_decay",
    "noam_decay",
    "piecewise_decay",
    "polynomial_decay",
    "pow2_decay_with_linear_warmup",
]
