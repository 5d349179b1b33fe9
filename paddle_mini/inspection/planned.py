# The plan of a run of a summarized program.
from __future__ import annotations

from typing import Any

import numpy as np

from .._core import ProgramError, printable
from ..executor import Executor
from ..feeds import numpy_dtype
from ..place import CPUPlace
from ..scope import LoDTensor, Scope
from .shapes import SizedProgram


def plan_line(program: Any, sized: SizedProgram) -> str:
    """The first line of the plan of a run, which depends only on shapes and dtypes: all values are zeros."""
    scope, block = Scope(), program.global_block()
    feed = {}
    read = {name: op for op in reversed(block.ops) for name in op.input_names}
    for name, op in read.items():
        var, value = block.find_var(name), sized.value(op, name)
        if var is None or value is None or var.block is not block:
            continue
        if var.persistable:
            scope.set(name, np.zeros(var.shape, numpy_dtype(var.dtype)))
        elif var.need_check_feed:
            if value.size is None:
                raise ProgramError(
                    f"summary(plan=True): '{printable(name)}' is {list(value.shape)}: a plan needs all dimensions but the first, "
                    "exe.plan_text takes a feed"
                )
            sequences = [list(range(value.shape[0] + 1)) for _ in range(var.lod_level)]  # each row is one
            feed[name] = LoDTensor(np.zeros(value.shape, numpy_dtype(value.dtype)), sequences)
    return Executor(CPUPlace()).plan_text(program, feed, [], scope).splitlines()[0]
