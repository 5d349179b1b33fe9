# Optimizers, and averaging of parameters around them.
from .adam import Adam
from .momentum import Momentum
from .optimizer import Optimizer
from .parameter_average import ParameterAverage
from .sgd import SGD

AdamOptimizer, MomentumOptimizer, SGDOptimizer = Adam, Momentum, SGD

__all__ = ["Adam", "AdamOptimizer", "Momentum", "MomentumOptimizer", "Optimizer", "ParameterAverage", "SGD",
           "SGDOptimizer"]
