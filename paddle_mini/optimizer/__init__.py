# Optimizers, and what is put around them: merging of gradients, scaling of the loss, averaging of parameters.
from .adagrad import Adadelta, Adagrad, DecayedAdagrad
from .adam import Adam, AdamW
from .adamax import Adamax
from .averaged_sgd import AveragedSGD
from .dpsgd import Dpsgd
from .ftrl import Ftrl
from .gradient_merge import GradientMerge
from .lamb import Lamb
from .lookahead import Lookahead
from .loss_scaling import LossScaling
from .momentum import LarsMomentum, Momentum
from .native import BusyError, NativeOptimizer, NotFiniteError
from .optimizer import Optimizer
from .parameter_average import ParameterAverage
from .proximal import ProximalAdagrad, ProximalGD
from .rmsprop import RMSProp
from .schedule_free import ScheduleFree
from .sgd import SGD

AdadeltaOptimizer, AdagradOptimizer, AdamOptimizer, AdamaxOptimizer = Adadelta, Adagrad, Adam, Adamax
DecayedAdagradOptimizer, DpsgdOptimizer, FtrlOptimizer, LambOptimizer = DecayedAdagrad, Dpsgd, Ftrl, Lamb
GradientMergeOptimizer = GradientMerge
LarsMomentumOptimizer, MomentumOptimizer, RMSPropOptimizer, SGDOptimizer = LarsMomentum, Momentum, RMSProp, SGD

__all__ = [
    "Adadelta",
    "AdadeltaOptimizer",
    "Adagrad",
    "AdagradOptimizer",
    "Adam",
    "AdamOptimizer",
    "AdamW",
    "Adamax",
    "AdamaxOptimizer",
    "AveragedSGD",
    "BusyError",
    "DecayedAdagrad",
    "DecayedAdagradOptimizer",
    "Dpsgd",
    "DpsgdOptimizer",
    "Ftrl",
    "FtrlOptimizer",
    "GradientMerge",
    "GradientMergeOptimizer",
    "Lamb",
    "LambOptimizer",
    "LarsMomentum",
    "LarsMomentumOptimizer",
    "Lookahead",
    "LossScaling",
    "Momentum",
    "MomentumOptimizer",
    "NativeOptimizer",
    "NotFiniteError",
    "Optimizer",
    "ParameterAverage",
    "ProximalAdagrad",
    "ProximalGD",
    "RMSProp",
    "RMSPropOptimizer",
    "SGD",
    "SGDOptimizer",
    "ScheduleFree",
]
