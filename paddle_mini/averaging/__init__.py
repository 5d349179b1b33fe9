# Averages of parameters: the schemes that optimizer.ParameterAverage puts into a program.
from .schemes import Exponential, Scheme, Uniform, Window

__all__ = ["Exponential", "Scheme", "Uniform", "Window"]
