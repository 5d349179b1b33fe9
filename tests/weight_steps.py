# average_weight step by step, and the numbers that define its schemes.
import numpy as np

import paddle_mini as pm


def window(size, **attrs):
    return {"scheme": "window", "window_min": size, "window_max": size, **attrs}


def decay_of(u, attrs):
    """The decay of the average in the u-th update, with numbers of many digits."""
    b, steps = np.longdouble(attrs["decay"]), np.longdouble(u * attrs["every"])
    if attrs["warmup"] == "ratio":
        b = min(b, (1 + steps) / (10 + steps))
    if attrs["warmup"] == "power":
        b = min(b, 1 - 1 / (1 + steps / attrs["warmup_length"]) ** np.longdouble(attrs["warmup_power"]))
    return b ** attrs["every"]


class Weights:
    """Runs average_weight step by step, with its state fed back."""

    def __init__(self, attrs, **others):
        self.program, self.scope, self.executor = pm.Program(), pm.Scope(), pm.Executor(pm.CPUPlace())
        block, names = self.program.global_block(), {"CountersOut": "Counters", "StateOut": "State"}
        for name, value in {"Counters": np.zeros(5, "int64"), "State": np.zeros(7), **others}.items():
            block.create_var(name, dtype=value.dtype, shape=value.shape, persistable=True)
            self.scope.set(name, value)
        inputs = {name: name for name in ("Counters", "State", *others)}
        block.append_op("average_weight", inputs, {**names, "Weight": "weight", "Roll": "roll"}, attrs)

    def step(self, **others):
        for name, value in others.items():
            self.scope.set(name, value)
        weight, roll = self.executor.run(self.program, fetch_list=["weight", "roll"], scope=self.scope)
        return float(weight[0]), int(roll[0])

    def run(self, steps):
        for _ in range(steps):
            self.executor.run(self.program, scope=self.scope)

    @property
    def counters(self):
        return self.scope.get("Counters").tolist()

    @property
    def state(self):
        return self.scope.get("State")
