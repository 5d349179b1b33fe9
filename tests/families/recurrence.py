# Shared parts of the tests of gru and lstm.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import paddle_mini as pm
from harness import run_op

ACTIVATIONS = {
    "identity": lambda x: x,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
}


def cases_of(case: Callable[..., Any]) -> dict[str, Any]:
    """Lengths that both must support. case(lod, size=3, **attributes) makes a case."""
    return {
        "three lengths": case([[0, 2, 5, 6]]),
        "reversed": case([[0, 2, 5, 6]], is_reverse=True),
        "empty sequences": case([[0, 0, 2, 2, 5]]),
        "two levels": case([[0, 2], [0, 2, 3]]),
        "many sequences": case([[0, *np.cumsum([1, 3, 2] * 6 + [4]).tolist()]]),
        "wider than registers": case([[0, 9, 11, 14]], 19),
        "one element": case([[0, 1]], 1),
        "no rows": case([[0, 0]]),
        "no sequences": case([[0]]),
        "no elements": case([[0, 2]], 0),
    }


def left_out_tests(op_type: str, plain: dict[str, Any], ports: Sequence[str], others: Sequence[str]) -> Callable[[], None]:
    def test() -> None:
        """Programs that were saved for inference lack the outputs that only the gradient reads."""
        every, some = run_op(op_type, plain, {}, [*ports, *others]), run_op(op_type, plain, {}, outputs=list(ports))
        for port in ports:
            np.testing.assert_array_equal(some[port].array, every[port].array)

    return test


Outputs = dict[str, pm.LoDTensor]


def rows_of_batches(op_type: str, plain: dict[str, Any], outputs: Sequence[str]) -> list[tuple[list[int], Outputs]]:
    """The outputs forwards and reversed, and the row of Input that each row of a batch came from."""
    expected = {False: [2, 0, 5, 3, 1, 4], True: [4, 1, 5, 3, 0, 2]}
    return [(rows, run_op(op_type, plain, {"is_reverse": reverse}, list(outputs))) for reverse, rows in expected.items()]
