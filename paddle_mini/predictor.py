# Predictor: a saved model that many threads call at the same time.
from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

from ._core import ProgramError, Scope
from .errors import listed, whole
from .executor import Executor
from .feeds import numpy_dtype
from .io.model import load_inference_model
from .io.parameters import Path
from .place import Place
from .renamed import answers_names


@partial(answers_names, fixed=("inputs", "outputs"))
class Predictor:
    """A saved model, loaded once; any number of threads call it at the same time, with batches of any size.

    prefix: of the files that pm.io.save_inference_model or PaddlePaddle wrote. place, threads: as of Executor, for each call;
    threads=1 serves most requests a second where requests come from several threads. check: as of load_inference_model.
    inputs, outputs: the names of what a call takes and returns. Errors as those of load_inference_model.

    Parameters, and their copies in the order of the kernels, are in the memory once. Each call that runs at the same time as
    others has an executor of its own, which keeps a plan and memory for each shape of its inputs. On a device calls take turns.

    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.fc(x, 4, act="softmax")
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> pm.io.save_inference_model("linear", [x], [y])
        >>> predictor = pm.Predictor("linear")
        >>> probabilities, = predictor(np.ones((3, 8), "float32"))
        >>> probabilities.shape
        (3, 4)
    """

    def __init__(self, prefix: Path, place: Place | None = None, threads: int | None = None, check: bool = True):
        self._place, self._threads = place, threads
        self._free: deque[Executor] = deque([self._executor()])  # those that no call uses, the latest one last
        self._scope = Scope()
        self._program, self.inputs, self._fetches = load_inference_model(prefix, scope=self._scope, check=check)
        self.outputs = [variable.name for variable in self._fetches]

    def __call__(self, values: Any) -> list[Any]:
        """The outputs, in the order of `outputs`, as Executor.run returns them.

        values: a dict of arrays by the names of the inputs; or one array, or LoDTensor, if there is one input. Errors as those
        of Executor.run, and ProgramError for an array if there are several inputs.
        """
        feed = self._feed(values)
        try:
            executor = self._free.pop()
        except IndexError:
            executor = self._executor()
        try:
            return executor.run(self._program, feed, self._fetches, self._scope)
        finally:
            self._free.append(executor)

    def warm_up(self, values: Any, calls: int = 1) -> None:
        """Prepares `calls` calls at the same time with inputs of these shapes, so that the first ones are as fast as later
        ones. ProgramError if calls is not an integer, at least 1; else errors as those of a call."""
        whole("warm_up: calls", calls)
        feed = self._feed(values)
        executors = [self._executor() for _ in range(calls - len(self._free))]
        for executor in [*self._free, *executors]:
            executor.run(self._program, feed, self._fetches, self._scope)
        self._free.extend(executors)

    def clone(self, place: Place | None = None, threads: int | None = None) -> Predictor:
        """A predictor with the same parameters, not copied, and executors of its own, such as with other threads."""
        other = object.__new__(Predictor)
        own = {"inputs": list(self.inputs), "outputs": list(self.outputs)}
        other.__dict__.update(self.__dict__, _place=place, _threads=threads, **own)
        other._free = deque([other._executor()])
        return other

    @property
    def parameter_bytes(self) -> int:
        """The memory of the parameters; all calls and clones share it."""
        infos = (self._scope.info(name) for name in self._scope.names())
        return sum(math.prod(info["shape"]) * numpy_dtype(info["dtype"]).itemsize for info in infos)

    def _executor(self) -> Executor:
        return Executor(self._place, threads=self._threads)

    def _feed(self, values: Any) -> Mapping[str, Any]:
        if isinstance(values, Mapping):
            return values
        if len(self.inputs) != 1:
            raise ProgramError(f"the model has {len(self.inputs)} inputs: give a dict by name, of {listed(self.inputs)}")
        return {self.inputs[0]: values}
