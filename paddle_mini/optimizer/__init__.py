# Optimizers, and what is put around them: merging of gradients, scaling of the loss, averaging of parameters.
"""minimize(loss) appends the gradients and the operators that change the parameters. In the formulas, p is a parameter, g its
gradient and η the learning rate; letters with an arrow are state that the optimizer keeps for each parameter.

GradientMerge, LossScaling, Lookahead, ScheduleFree and ParameterAverage are given another optimizer. NativeOptimizer is for
training without programs."""

from .. import lr as lr  # PaddlePaddle 2 has the schedules here
from ..renamed import show_public
from ..shared_docs import describe_shared
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
from .native import NativeOptimizer
from .native_library import BusyError, NotFiniteError
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

describe_shared(
    [globals()[name] for name in __all__ if not name.endswith("Error") and name != "Optimizer"],
    {
        "learning_rate": "η, as of Optimizer",
        "beta1": "β₁",
        "beta2": "β₂",
        "rho": "ρ",
        "epsilon": "ε",
        **dict.fromkeys(("parameter_list", "regularization", "grad_clip", "name"), "as of Optimizer"),
    },
)

show_public(globals())
