# Optimizers, and averaging of parameters around them.
from .adam import Adam
from .momentum import Momentum
from .optimizer import Optimizer
from .sgd import SGD

# Averaging wraps an Optimizer, so its module comes after.
from ..averaging import ParameterAverage  # isort: skip

AdamOptimizer, MomentumOptimizer, SGDOptimizer = Adam, Momentum, SGD

__all__ = ["Adam", "AdamOptimizer", "Momentum", "MomentumOptimizer", "Optimizer", "ParameterAverage", "SGD",
           "SGDOptimizer"]
