# Shared inputs and refusals of operators on the matrices in the last two axes of a tensor.
from __future__ import annotations

from typing import Any

import numpy as np

import paddle_mini as pm
from harness import array, ints


def regular(*shape: int, seed: int = 0) -> np.ndarray:
    """Matrices far from singular: random numbers, and 3 more in the diagonal."""
    return array(*shape, seed=seed) + 3 * np.eye(shape[-1])


def positive(*shape: int) -> np.ndarray:
    """Symmetric positive definite matrices."""
    root = array(*shape)
    return root @ root.swapaxes(-1, -2) + np.eye(shape[-1])


def refused(port: str, attrs: dict[str, Any] = {}, **other: np.ndarray) -> dict[str, Any]:
    """Inputs that every one of these operators refuses."""
    return {
        "not square": ({port: array(2, 3), **other}, attrs, pm.ShapeError, f"{port} [2, 3] square"),
        "a vector": ({port: array(3), **other}, attrs, pm.ShapeError, f"{port} [3] square"),
        "integers": ({port: ints(2, 2), **{name: ints(2, 2) for name in other}}, attrs, pm.Error, "int64"),
    }


def check_symmetric_gradient(
    op_type: str, outputs: dict[str, str], weights: dict[str, np.ndarray], attrs: dict[str, Any]
) -> None:
    """The gradient of A in the sum of weights times outputs of the operator for S = A A^T + I, against differences: a gradient
    that counts both triangles of S differs from one of single elements."""
    main, a = pm.Program(), array(3, 3) + np.diag([1.0, 2.0, 4.0])
    with pm.program_guard(main):
        x = pm.layers.data("a", [3, 3], "float64")
        x.stop_gradient = False
        identity = pm.layers.assign(np.eye(3))
        s = pm.layers.elementwise_add(pm.layers.matmul(x, x, transpose_y=True), identity)
        block = main.global_block()
        block.append_op(op_type, {"X": s}, outputs, attrs)
        terms = [
            pm.layers.reduce_sum(pm.layers.elementwise_mul(block.var(outputs[port]), pm.layers.assign(weight)))
            for port, weight in weights.items()
        ]
        loss = pm.layers.sums(terms)
        (gradient,) = pm.gradients([loss], [x])
    executor = pm.Executor()

    def run(value: np.ndarray, fetch: pm.Variable) -> np.ndarray:
        return executor.run(main, feed={"a": value}, fetch_list=[fetch])[0]

    step = 1e-6
    expected = np.zeros((3, 3))
    for at in np.ndindex(3, 3):
        change = np.zeros((3, 3))
        change[at] = step
        expected[at] = (run(a + change, loss) - run(a - change, loss)).item() / (2 * step)
    np.testing.assert_allclose(run(a, gradient), expected, rtol=1e-6, atol=1e-7)
