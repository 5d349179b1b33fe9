# Programs of operators that work element by element on variables of the scope, for tests of the executor.
import numpy as np

import paddle_mini as pm

SIZE = 10_007  # five tiles, the last one short
LARGE = 70_001  # shorter tiles


def state(block, scope, name, values):
    values = np.asarray(values)
    block.create_var(name, shape=values.shape, dtype=str(values.dtype), persistable=True)
    scope.set(name, values)


class Program:
    """Some parameters with gradients, sgd for each, and then an average of each."""

    def __init__(self, between=lambda block: None, sizes=(SIZE, 3, LARGE), optimizer="sgd"):
        self.main, self.scope = pm.Program(), pm.Scope()
        block, draw = self.main.global_block(), np.random.default_rng(0)
        state(block, self.scope, "rate", np.float32([0.1]))
        state(block, self.scope, "weight", np.float64([0.25]))
        for i, size in enumerate(sizes):
            for key in ("p", "g", "m", "a"):
                state(block, self.scope, f"{key}{i}", draw.normal(size=size).astype("float32"))
        for i in range(len(sizes)):
            inputs, outputs = {"Param": f"p{i}", "Grad": f"g{i}", "LearningRate": "rate"}, {"ParamOut": f"p{i}"}
            if optimizer == "momentum":
                inputs["Velocity"] = outputs["VelocityOut"] = f"m{i}"
            block.append_op(optimizer, inputs, outputs, {"mu": 0.9} if optimizer == "momentum" else {})
        between(block)
        for i in range(len(sizes)):
            block.append_op(
                "parameter_average",
                {"Param": f"p{i}", "Average": f"a{i}", "Weight": "weight"},
                {"AverageOut": f"a{i}"},
                {"check_finite": True},
            )

    def plan(self):
        return pm.Executor().plan_text(self.main, scope=self.scope)

    def run(self, steps=3):
        exe = pm.Executor()
        for _ in range(steps):
            exe.run(self.main, scope=self.scope)
        return {name: self.scope.get(name) for name in self.scope.names()}
