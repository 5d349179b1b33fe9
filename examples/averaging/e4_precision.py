# E4: the effect of precision on an average: stored in bfloat16 it stops moving, in float32 it does not.
"""A float32 parameter follows a target by gradient descent; the model has it in bfloat16, rounded after every step. Its
average is stored four ways in one program: in bfloat16; in float32, of the bfloat16 parameter, which is the method of
ParameterAverage, also with compensated=True; in float32, of the float32 parameter. The reference is the average of the
float32 parameter in float64, computed outside. Errors are root mean squares, as a fraction of the change by averaging:
average minus last parameter."""

import numpy as np

import paddle_mini as pm
from paddle_mini.averaging import Exponential

# The variables of each arm, and bytes per parameter.
ARMS = {
    "bfloat16 average": ("naive", 2),
    "float32 average of the bfloat16 parameter": ("rounded_average_0", 8),
    "the same, compensated": ("rounded_average_1", 8),
    "float32 average of the float32 parameter": ("exact_average_0", 8),
}
FLOAT32, BFLOAT16 = 5, 22


class Rounding:
    """sgd on the float32 parameter `exact`; after it `rounded`, its bfloat16 twin."""

    def __init__(self, optimizer, exact, rounded):
        self.optimizer, self.exact, self.rounded = optimizer, exact, rounded

    def backward(self, loss, *arguments):
        ((_, gradient),) = self.optimizer.backward(loss, *arguments)
        return [(self.exact, gradient), (self.rounded, gradient)]

    def apply_gradients(self, pairs):
        ops = self.optimizer.apply_gradients(pairs[:1])
        cast(pm.default_main_program(), self.exact, self.rounded, BFLOAT16)
        return ops


def cast(program, x, out, dtype):
    return program.global_block().append_op(
        "cast", {"X": x}, {"Out": out}, {"in_dtype": FLOAT32 + BFLOAT16 - dtype, "out_dtype": dtype}
    )


class Follower:
    """parameters() after every step and the averages by arm."""

    def __init__(self, elements, rate, decay):
        self.main, self.startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(self.main, self.startup):
            target = pm.layers.data("target", [elements])
            one = pm.initializer.Constant(1.0)
            exact = pm.layers.create_parameter([elements], "float32", name="exact", default_initializer=one)
            facts = {"shape": [elements], "dtype": "bfloat16", "persistable": True}
            rounded, naive = (self.main.global_block().create_var(name, **facts) for name in ("rounded", "naive"))
            for variable in (rounded, naive):
                cast(self.startup, exact.name, self.startup.global_block().create_var(variable.name, **facts), BFLOAT16)
            rounded.do_model_average = True  # as the parameter that the model uses
            loss = pm.layers.reduce_sum(pm.layers.square(exact - target) * 0.5)
            schemes = [Exponential(decay, bias_correction=False, compensated=more) for more in (False, True)]
            pm.optimizer.ParameterAverage(Rounding(pm.optimizer.SGD(rate), exact, rounded), schemes).minimize(loss)
            now, average = pm.layers.cast(rounded, "float32"), pm.layers.cast(naive, "float32")
            cast(self.main, average + (now - average) * (1 - decay), naive, BFLOAT16)
        self.exe = pm.Executor(pm.CPUPlace())
        self.exe.run(self.startup, scope=self.scope)

    def step(self, target):
        """The float32 parameter after the step."""
        return self.exe.run(self.main, {"target": target}, ["exact"], self.scope)[0]

    def value(self, name):
        """The numbers that the variables of an average represent: docs/averaging.md, "Precision"."""
        average = self.scope.get(name)
        for op in self.main.global_block().ops:
            if op.type == "parameter_average" and op.input("Average") == [name] and op.input("Block"):
                total, shift = self.scope.get(op.input("Sums")[0])[:2]
                average = average + (shift * average + self.scope.get(op.input("Block")[0])) / (total or 1)
        return average

    def averages(self):
        values = {name: self.value(variable) for name, (variable, _) in ARMS.items()}
        # NumPy has no bfloat16: its bits are returned as uint16.
        return {
            name: (value.astype("uint32") << 16).view("float32") if value.dtype == np.uint16 else value
            for name, value in values.items()
        }


def drifting(settings, decay, steps):
    follower, random = Follower(settings["elements"], settings["rate"], decay), np.random.RandomState(0)
    reference = None
    for step in range(steps):
        noise = random.randn(settings["elements"]) * settings["noise"]
        last = follower.step((1 + settings["drift"] * step + noise).astype("float32")).astype(float)
        reference = last if reference is None else reference + (1 - decay) * (last - reference)
    changed = np.sqrt(np.mean((reference - last) ** 2))
    return {name: np.sqrt(np.mean((found - reference) ** 2)) / changed for name, found in follower.averages().items()}


def jump(decay, steps):
    """The parameter is 1 once and then 2: the averages after each step, {arm: [51]}."""
    follower, marks = Follower(4, 1.0, decay), set(np.linspace(0, steps - 1, 51, dtype=int))
    path = {name: [] for name in ARMS}
    for step in range(steps):
        follower.step(np.full(4, 1.0 if step == 0 else 2.0, "float32"))
        if step in marks:
            for name, found in follower.averages().items():
                path[name].append(float(found[0]))
    return path


def judge(report, rows):
    found = {(row["decay"], row["arm"]): row for row in rows}
    naive, plain, compensated, _ = (found[0.999, arm]["after a jump from 1 to 2"] for arm in ARMS)
    true = 2 - 0.999 ** (rows[len(ARMS)]["steps"] - 1)
    report.criterion(
        "e4", "decay .999: the bfloat16 average stays at 1 after the parameter has jumped to 2", f"{naive:.4f}", naive == 1
    )
    report.criterion(
        "e4",
        "the float32 average of the bfloat16 parameter arrives, up to two last digits of float32",
        f"{abs(true - plain):.1e} away, compensated {abs(true - compensated):.1e}",
        max(abs(true - plain), abs(true - compensated)) < 2.5e-7,
    )
    key = "error / what averaging changes"
    least, most = (
        min(row[key] for row in rows if row["arm"].startswith("bfloat16")),
        max(row[key] for row in rows if row["arm"].endswith("float32 parameter")),
    )
    report.criterion("e4", "float32 averages err by less than 1e-3 of what averaging changes", f"{most:.1e}", most < 1e-3)
    report.criterion("e4", "bfloat16 averages err by more than averaging changes", f"at least {least:.1f} x", least > 1)


def run(settings, report):
    rows, paths = [], {}
    for decay, steps in settings["decays"]:
        errors, paths[decay] = drifting(settings, decay, steps), jump(decay, steps)
        for name, (_, size) in ARMS.items():
            rows.append(
                {
                    "decay": decay,
                    "steps": steps,
                    "arm": name,
                    "error / what averaging changes": errors[name],
                    "after a jump from 1 to 2": paths[decay][name][-1],
                    "bytes/parameter": size,
                }
            )
    report.table("e4_precision", rows)
    judge(report, rows)

    def draw(axis):
        for name, style in zip(ARMS, ("-", "-", "--", ":")):
            axis.plot(np.linspace(0, dict(settings["decays"])[0.999], 51), paths[0.999][name], style, label=name)
        axis.set(xlabel="step", ylabel="average", title="decay .999, after the parameter has jumped from 1 to 2")
        axis.legend(loc="center right")

    report.figure("e4_precision", draw)
