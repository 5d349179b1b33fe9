# Averages of parameters: the schemes and lengths for optimizer.ParameterAverage, and averages made after training.
from .lengths import Length, epochs, fraction, samples, steps
from .profiles import LearningRateDecay
from .scheme import Scheme
from .schemes import BiasCorrected, Exponential, Latest, Polynomial, Power, Tail, Uniform, Window
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
