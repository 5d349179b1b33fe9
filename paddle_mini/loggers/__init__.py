# Loggers: write the figures of a training run to files.
"""Every logger has log(values, step) and close(), and is a context manager. Whatever takes a logger takes any object with these
two methods.

>>> with pm.loggers.CSVLogger("logs/run.csv") as log:
...     for step in range(2):
...         log.log({"loss": 1.0 / (step + 1)}, step)
>>> pm.loggers.CSVLogger.read("logs/run.csv")
[{'step': 0.0, 'loss': 1.0}, {'step': 1.0, 'loss': 0.5}]
"""

from ..renamed import show_public
from .protocol import Logger
from .tensorboard import TensorBoardLogger
from .text_files import CSVLogger, JSONLinesLogger

__all__ = ["CSVLogger", "JSONLinesLogger", "Logger", "TensorBoardLogger"]

show_public(globals())
