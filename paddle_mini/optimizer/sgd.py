# SGD: gradient descent.
from __future__ import annotations

from typing import Any

from ..block import Block
from ..operator import Operator
from ..variable import Parameter, Variable
from .optimizer import Optimizer


class SGD(Optimizer):
    """p ← p − η g. Of a sparse gradient only the rows it names change.

    Example:
        >>> w = pm.layers.create_parameter([1], attr=pm.initializer.Constant(1.0))
        >>> ops, gradients = pm.optimizer.SGD(0.1).minimize(w * 2.0)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[w])[0].round(3)
        array([0.8], dtype=float32)
    """

    leaves_other_rows = True
    keeps_nothing = True

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        return block.append_op(
            "sgd", {"Param": parameter, "LearningRate": self.rate_of(parameter), "Grad": gradient}, {"ParamOut": parameter}
        )

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        return {"optimizer": "SGD", "sgd": {}}
