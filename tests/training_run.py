# A network with dropout, a schedule and averages, with a checkpoint or two, which tests of checkpoints train.
import inspect
import json
import pathlib

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import averaging
from paddle_mini.optimizer import Optimizer, ParameterAverage
from paddle_mini.optimizer.averaging_optimizer import AveragingOptimizer
from paddle_mini.optimizer.optimizer import Minimizer
from small_model import assert_same_bits, batch


def public(module, wanted):
    """The classes that a package exports, by their names."""
    return {kind.__name__: kind for kind in map(vars(module).get, module.__all__) if inspect.isclass(kind) and wanted(kind)}


OPTIMIZERS = public(pm.optimizer, lambda kind: issubclass(kind, Optimizer) and kind is not Optimizer)
WRAPPERS = public(
    pm.optimizer, lambda kind: issubclass(kind, Minimizer) and not issubclass(kind, (Optimizer, AveragingOptimizer))
)
# Optimizers with averages of their own.
AVERAGED = {
    "AveragedSGD": lambda rate: pm.optimizer.AveragedSGD(0.05, decay=0.1),
    "ScheduleFree": lambda rate: pm.optimizer.ScheduleFree(pm.optimizer.Adam(rate)),
}
assert {*AVERAGED, "ParameterAverage"} == set(public(pm.optimizer, lambda kind: issubclass(kind, AveragingOptimizer)))
SCHEMES = public(averaging, lambda kind: issubclass(kind, averaging.Scheme) and kind is not averaging.Scheme)
MORE = {"LarsMomentum": {"momentum": 0.9}, "RMSProp": {"momentum": 0.5, "centered": True}, "GradientMerge": {"k_steps": 3}}
ARGUMENTS = {"Window": [4], "Exponential": [0.8], "Latest": [3], "Power": [2.0], "Tail": [3]}


def optimizer_of(name, rate):
    if name in WRAPPERS:
        return WRAPPERS[name](pm.optimizer.Adam(rate), **MORE.get(name, {}))
    return OPTIMIZERS[name](rate, **MORE.get(name, {}))


class Run:
    """A network with dropout, a schedule and averages, in a scope and an executor of its own.

    place: the executor's. optimizer, scheme: names of classes, schemes joined by "+"; the scheme is not that of
    AVERAGED
    optimizers. table: also looks rows up, with sparse gradients.
    """

    def __init__(
        self,
        optimizer="Adam",
        scheme="Window",
        schedule=None,
        seed=3,
        size=5,
        table=False,
        place=None,
        average_place=None,
        **arguments,
    ):
        self.schedule = schedule() if schedule else pm.lr.LinearWarmup(pm.lr.ExponentialDecay(0.05, 0.9), 3, 0.01, 0.05)
        self.main, self.startup, self.scope, self.exe = (
            pm.Program(),
            pm.Program(),
            pm.Scope(),
            pm.Executor(place, allow_cpu_fallback=table),
        )  # GPUs leave sparse gradients to the CPU
        with pm.program_guard(self.main, self.startup):
            x, label = pm.layers.data("x", [-1, 6]), pm.layers.data("label", [-1, 1], dtype="int64")
            hidden = pm.layers.dropout(pm.layers.fc(x, size, act="tanh"), 0.5)
            if table:
                hidden = hidden + pm.layers.reshape(pm.layers.embedding(label, [9, size], is_sparse=True), [-1, size])
            logits = pm.layers.fc(hidden, 3)
            self.loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))
            schemes = [SCHEMES[name](*ARGUMENTS.get(name, [])) for name in scheme.split("+")]
            self.average = (
                AVERAGED[optimizer](self.schedule)
                if optimizer in AVERAGED
                else ParameterAverage(optimizer_of(optimizer, self.schedule), schemes, place=average_place, **arguments)
            )
            self.average.minimize(self.loss)
        pm.seed(seed)
        self.exe.run(self.startup, scope=self.scope)

    def train(self, numbers):
        losses = []
        for number in numbers:
            losses.append(self.exe.run(self.main, batch(number), [self.loss], self.scope)[0])
            self.schedule.step(*([float(losses[-1])] if isinstance(self.schedule, pm.lr.ReduceOnPlateau) else []))
        return np.array(losses)

    def everything(self):
        """All values, the averages as apply() gives them, and the schedule's state."""
        values = {name: self.scope.get(name) for name in self.scope.names()}
        with self.average.apply(self.exe, self.scope):
            averages = {f"average of {var.name}": self.scope.get(var.name) for var in self.main.all_parameters()}
        schedule = {
            f"schedule of {name}": np.frombuffer(json.dumps(rate.state_dict()).encode(), np.uint8)
            for name, rate in self.main.schedules.items()
        }
        random = {"random": np.frombuffer(self.exe.random_state().encode(), np.uint8)}
        return {**values, **averages, **schedule, **random}

    def save(self, manager, step, **arguments):
        return manager.save(step, self.main, self.exe, self.scope, **arguments)

    def restore(self, manager, **arguments):
        return manager.restore(self.main, self.exe, self.scope, **arguments)


def saved_twice(folder, run):
    """A manager with checkpoints of steps 1 and 2, with different values."""
    manager = pm.io.CheckpointManager(folder, keep=10)
    for step in (1, 2):
        run.save(manager, step, data=[step])
        run.train([step])
    return manager


def folder_of(manager, step):
    (path,) = pathlib.Path(manager.directory).glob(f"checkpoint-*-step-{step}")
    return path


def refused(run, manager, words, error=pm.ProgramError, **arguments):
    """Expects an error, and an unchanged state."""
    before = run.everything()
    with pytest.raises(error, match=words) as caught:
        run.restore(manager, **arguments)
    assert_same_bits(run.everything(), before)
    assert len(str(caught.value)) < 1000
    return str(caught.value)
