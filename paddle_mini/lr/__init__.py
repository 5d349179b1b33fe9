# Learning-rate schedules: as operators of the program, and as objects that step() moves on.
"""Functions such as exponential_decay append operators, so a program carries its schedule wherever it
runs. Classes such as ExponentialDecay are given to an optimizer as learning_rate: they add no
operator; the Executor writes their rate before each run, and step() moves them on."""

import inspect

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
from ..renamed import make_method_take_other_names, show_public
from ..shared_docs import describe_shared
from .cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .decays import (
    CosineAnnealingDecay,
    ExponentialDecay,
    InverseTimeDecay,
    LambdaDecay,
    LinearLR,
    MultiplicativeDecay,
    NaturalExpDecay,
    NoamDecay,
    PolynomialDecay,
)
from .piecewise import MultiStepDecay, PiecewiseDecay, StepDecay
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

describe_shared(
    [value for name in __all__ if inspect.isclass(value := globals()[name]) and value is not LRScheduler],
    {"learning_rate": "η, the rate that the formula begins from", "last_epoch": "one less than t at the beginning"},
)

for _name in __all__:
    if inspect.isclass(globals()[_name]) and "__init__" in vars(globals()[_name]):
        make_method_take_other_names(globals()[_name], "__init__")

show_public(globals())
