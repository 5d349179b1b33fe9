# TensorBoardLogger: scalars, and histograms of parameters and of their averages.
from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._core import ProgramError, printable
from ..executor import Executor
from ..feeds import bfloat16_values
from ..guards import default_main_program
from ..scope import scope_or_global
from .protocol import figures

_numbers = itertools.count()


class TensorBoardLogger:
    """Writes event files for TensorBoard to a directory. ProgramError where tensorboardX is not installed
    (pip install 'paddle_mini[tensorboard]'). Loggers of one directory add event files to it.

    Example:
        >>> with pm.loggers.TensorBoardLogger("logs") as log:  # `tensorboard --logdir logs` shows it
        ...     log.log({"loss": 0.5}, step=1)
    """

    def __init__(self, directory: str | os.PathLike[str]):
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise ProgramError("TensorBoardLogger needs tensorboardX: pip install 'paddle_mini[tensorboard]'") from None
        self.directory = Path(directory)
        file = next((one for one in (self.directory, *self.directory.parents) if one.is_file()), None)
        if file is not None:
            raise ProgramError(f"TensorBoardLogger: '{printable(file)}' is a file; give a directory")
        # tensorboardX names a file by the second and the host, and truncates it; the number is sorted as it counts.
        suffix = f".{os.getpid()}.{next(_numbers):06}"
        self._writer: Any = SummaryWriter(os.fspath(directory), filename_suffix=suffix)

    def _open_writer(self) -> Any:
        """The writer; a closed one of tensorboardX would start a file again."""
        if self._writer is None:
            raise ProgramError(f"the logger of '{printable(self.directory)}' is closed")
        return self._writer

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Writes scalars; "/" in a name makes groups."""
        numbers, step = figures(values, step)
        writer = self._open_writer()
        for name, value in numbers.items():
            writer.add_scalar(name, value, step)
        writer.flush()

    def log_histograms(self, step: int, program: Any = None, scope: Any = None, averages: Any = None) -> None:
        """Writes a histogram of each trainable parameter's finite elements, "parameters/fc_0.w_0", and as a scalar how many
        are not finite, if there are any. averages: an averaging optimizer of the program: "averages/fc_0.w_0" too.
        """
        writer = self._open_writer()
        program = default_main_program() if program is None else program
        scope = scope_or_global(scope)
        parameters = [one for one in program.all_parameters() if one.trainable]
        self._add_histograms("parameters", parameters, scope, step)
        if averages is not None:
            with averages.apply(Executor(), scope=scope):
                self._add_histograms("averages", parameters, scope, step)
        writer.flush()

    def _add_histograms(self, group: str, parameters: list[Any], scope: Any, step: int) -> None:
        for parameter in parameters:
            value = bfloat16_values(np.asarray(scope.get(parameter.name)))
            finite = value[np.isfinite(value)]
            if finite.size:
                self._writer.add_histogram(f"{group}/{parameter.name}", finite, step)
            if finite.size < value.size:
                self._writer.add_scalar(f"{group}/{parameter.name}/not_finite", value.size - finite.size, step)

    def close(self) -> None:
        """Closes the event file; a second call has no effect."""
        if self._writer is not None:
            self._writer.close()
        self._writer = None

    def __enter__(self) -> TensorBoardLogger:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
