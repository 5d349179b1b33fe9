# Programs around a rank table: x, its table, and the requested operators.
from __future__ import annotations

from typing import Any

import numpy as np

import paddle_mini as pm


class RankProgram:
    """x with sequences, and a rank table of them; gradients of values computed from x."""

    def __init__(self, x: pm.LoDTensor, level: int = 0):
        self.program, self.feed = pm.Program(), {}
        self.block = self.program.global_block()
        self.data("x", x)
        self.block.create_var("table", kind=12)
        self.block.append_op("lod_rank_table", {"X": "x"}, {"Out": "table"}, {"level": level})

    def data(self, name: str, value: Any) -> str:
        lod = value.lod if isinstance(value, pm.LoDTensor) else []
        array = value.array if isinstance(value, pm.LoDTensor) else np.asarray(value)
        self.block.create_var(
            name, shape=[-1] * array.ndim, dtype=array.dtype, lod_level=len(lod), need_check_feed=True, stop_gradient=False
        )
        self.feed[name] = value
        return name

    def op(self, op_type: str, inputs: dict[str, str], out: str, dtype: str = "float32", kind: int = 7, rank: int = 2) -> str:
        """Appends an operator with one output Out, so that its gradient can follow."""
        self.block.create_var(out, shape=[-1] * rank, dtype=dtype, kind=kind)
        self.last = self.block.append_op(op_type, inputs, {"Out": out}, {})
        return out

    def gradient(self, kinds: dict[str, int]) -> None:
        """Appends the gradient given by the last operator's schema; kinds of the variables it makes."""
        from paddle_mini import _core

        for op in _core.gradient(self.last.describe()):
            for _, names in op["outputs"]:
                for name in names:
                    self.block.create_var(name, shape=[-1, -1], dtype="float32", kind=kinds.get(name, 7))
            self.block.append_op(op["type"], dict(op["inputs"]), dict(op["outputs"]), {n: v for n, _, v in op["attrs"]})

    def run(self, *names: str) -> list[Any]:
        return pm.Executor().run(self.program, self.feed, list(names), scope=pm.Scope(), return_numpy=False)
