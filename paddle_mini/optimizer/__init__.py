# Optimizers, and averaging of parameters around them.
from .adagrad import Adadelta, Adagrad, DecayedAdagrad
from .adam import Adam, AdamW
from .adamax import Adamax
from .dpsgd import Dpsgd
from .ftrl import Ftrl
from .lamb import Lamb
from .momentum import LarsMomentum, Momentum
from .optimizer import Optimizer
from .parameter_average import ParameterAverage
from .proximal import ProximalAdagrad, ProximalGD
from .rmsprop import RMSProp
from .sgd import SGD

AdadeltaOptimizer, AdagradOptimizer, AdamOptimizer, AdamaxOptimizer = Adadelta, Adagrad, Adam, Adamax
DecayedAdagradOptimizer, DpsgdOptimizer, FtrlOptimizer, LambOptimizer = DecayedAdagrad, Dpsgd, Ftrl, Lamb
LarsMomentumOptimizer, MomentumOptimizer, RMSPropOptimizer, SGDOptimizer = LarsMomentum, Momentum, RMSProp, SGD

__all__ = [
    "Adadelta", "AdadeltaOptimizer", "Adagrad", "AdagradOptimizer", "Adam", "AdamOptimizer", "AdamW", "Adamax",
    "AdamaxOptimizer", "DecayedAdagrad", "DecayedAdagradOptimizer", "Dpsgd", "DpsgdOptimizer", "Ftrl", "FtrlOptimizer",
    "Lamb", "LambOptimizer", "LarsMomentum", "LarsMomentumOptimizer", "Momentum", "MomentumOptimizer", "Optimizer",
    "ParameterAverage", "ProximalAdagrad", "ProximalGD", "RMSProp", "RMSPropOptimizer", "SGD", "SGDOptimizer",
]
