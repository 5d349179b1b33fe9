# SGD: gradient descent.
from __future__ import annotations

from typing import Any

from ..block import Block
from ..operator import Operator
from ..variable import Parameter, Variable
from .optimizer import Optimizer


class SGD(Optimizer):
    """p ← p − η g. Of a sparse gradient only the rows it names change."""

    leaves_other_rows = True
    keeps_nothing = True

    def append_optimize_op(self, block: Block, parameter: Parameter, gradient: Variable) -> Operator:
        return block.append_op(
            "sgd", {"Param": parameter, "LearningRate": self.rate_of(parameter), "Grad": gradient}, {"ParamOut": parameter}
        )

    def step_values(self, parameter: Parameter | None) -> dict[str, Any]:
        return {"optimizer": "SGD", "sgd": {}}
