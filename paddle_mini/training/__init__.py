# Training: fit and Trainer, their callbacks and history.
"""pm.fit(loss, data, optimizer) is for users who have a loss, pm.Trainer for those who have programs or need the trained
program afterwards; fit is one call of both.

The interface begins from the loss because everything else follows from it: its program is the training program, the program
for validation is that one's clone(for_test=True), which is the same before and after minimize(), and data variables say what a
batch holds. A user with programs passes a loss that is minimized already, and leaves out the optimizer. Values are named by the
user ("accuracy"), never by variables. Parameters stay in the global scope and programs are the default ones, so that
everything that works after a loop by hand, such as pm.io.save_inference_model, works after fit.

Nothing is hidden: fit calls Executor.run, ParameterAverage.apply, CheckpointManager.save and LRScheduler.step, as the loops in
docs/training.md do, in the same order and with the same bits.
"""

from ..renamed import show_public
from .callbacks import Callback, EvaluateAverages, Histograms, LearningRateLogger
from .history import History
from .monitors import BestCheckpoint, EarlyStopping
from .one_call import fit
from .trainer import Trainer

__all__ = [
    "BestCheckpoint",
    "Callback",
    "EarlyStopping",
    "EvaluateAverages",
    "Histograms",
    "History",
    "LearningRateLogger",
    "Trainer",
    "fit",
]

show_public(globals())
