# Shared tests of operators that keep the elements of X and change their shape or order.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import paddle_mini as pm
from harness import Cases, Reference, Rows, array, ints, op_tests, run_op

SELECTED_ROWS = Rows([1], array(1, 2), 3)


def no_rows(attrs: dict[str, Any]) -> dict[str, Any]:
    return {"selected rows": ({"X": SELECTED_ROWS}, attrs, pm.ShapeError, "X selected rows")}


def kinds_tests(
    op_type: str,
    reference: Reference,
    attrs: dict[str, Any],
    dtypes: Sequence[str] = ("bool", "uint8", "int64"),
    shape: Sequence[int] = (3, 1, 4),
    unchecked: Sequence[str] = ("XShape",),
) -> Callable[..., None]:
    """Tests element types other than floats."""
    cases: Cases = {dtype: ({"X": ints(*shape, high=2).astype(dtype)}, attrs) for dtype in dtypes}
    return op_tests(op_type, reference, cases, unchecked=unchecked)


def x_shape_tests(op_type: str, attrs: dict[str, Any]) -> Callable[[], None]:
    def test() -> None:
        """XShape has no data; it carries X's shape to the gradient."""
        found = run_op(op_type, {"X": array(3, 1)}, attrs, outputs=["Out", "XShape"])
        assert found["XShape"].shape == (0, 3, 1)

    return test


def reshape_reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, np.ndarray]:
    x = inputs["X"]
    shape = [x.shape[i] if dim == 0 else dim for i, dim in enumerate(attrs["shape"])]
    known = int(np.prod([dim for dim in shape if dim != -1]))
    if -1 in shape and known == 0:  # NumPy can't infer it; the dimensions that are copied cancel
        copied = [i for i, dim in enumerate(attrs["shape"]) if dim == 0]
        rest = np.prod([dim for i, dim in enumerate(x.shape) if i not in copied])
        shape[shape.index(-1)] = int(rest // np.prod([dim for dim in attrs["shape"] if dim > 0]))
    return {"Out": x.reshape(shape)}


def reshape_tests(
    op_type: str, cases: Cases = {}, refusals: dict[str, Any] = {}, unchecked: Sequence[str] = ()
) -> Callable[..., None]:
    """Tests reshape and reshape2."""
    return op_tests(
        op_type,
        reshape_reference,
        cases={
            "plain": ({"X": array(3, 4)}, {"shape": [2, 6]}),
            "worked out": ({"X": array(3, 4)}, {"shape": [-1, 2]}),
            "copied": ({"X": array(3, 4, 5)}, {"shape": [0, 0, 5, 1]}),
            "one element": ({"X": array()}, {"shape": [1, -1]}),
            "no rows": ({"X": array(0, 4)}, {"shape": [0, 2, 2]}),
            **cases,
        },
        gradients=["X"],
        unchecked=unchecked,
        refusals={
            "other count": ({"X": array(3, 4)}, {"shape": [5, 2]}, pm.ShapeError, "[3, 4] [5, 2]"),
            "two to work out": ({"X": array(3, 4)}, {"shape": [-1, -1]}, pm.ProgramError, "shape -1"),
            "nothing to copy": ({"X": array(4)}, {"shape": [2, 0]}, pm.ShapeError, "dimension 1 [4]"),
            **no_rows({"shape": [6]}),
            **refusals,
        },
    )


def transpose_reference(inputs: dict[str, Any], attrs: dict[str, Any]) -> dict[str, np.ndarray]:
    return {"Out": inputs["X"].transpose(attrs["axis"])}


def transpose_tests(
    op_type: str, cases: Cases = {}, refusals: dict[str, Any] = {}, unchecked: Sequence[str] = ()
) -> Callable[..., None]:
    """Tests transpose and transpose2."""
    return op_tests(
        op_type,
        transpose_reference,
        cases={
            "matrix": ({"X": array(3, 4)}, {"axis": [1, 0]}),
            "heads": ({"X": array(2, 9, 4, 16)}, {"axis": [0, 2, 1, 3]}),
            "negative axes": ({"X": array(2, 3, 4)}, {"axis": [-1, 0, -2]}),
            "as it is": ({"X": array(2, 3)}, {"axis": [0, 1]}),
            "one element": ({"X": array()}, {"axis": []}),
            "no rows": ({"X": array(0, 4)}, {"axis": [1, 0]}),
            **cases,
        },
        gradients=["X"],
        unchecked=unchecked,
        refusals={
            "too few axes": ({"X": array(3, 4)}, {"axis": [0]}, pm.ShapeError, "axis 1 2"),
            "one axis twice": ({"X": array(3, 4)}, {"axis": [0, -2]}, pm.ShapeError, "axis -2 twice"),
            "no axes": ({"X": array(3, 4)}, {}, pm.ProgramError, "axis missing"),
            **no_rows({"axis": [1, 0]}),
            **refusals,
        },
    )


def repeat_tests(
    op_type: str, times: str, cases: Cases = {}, refusals: dict[str, Any] = {}
) -> tuple[Callable[..., None], Callable[..., None]]:
    """Tests expand and tile, and them with integers; times: the name of the attribute."""
    reference = lambda inputs, attrs: {"Out": np.tile(inputs["X"], attrs[times])}
    test = op_tests(
        op_type,
        reference,
        cases={
            "rows": ({"X": array(2, 3)}, {times: [3, 1]}),
            "last axis": ({"X": array(2, 3)}, {times: [1, 2]}),
            "both": ({"X": array(2, 3, 2)}, {times: [2, 1, 3]}),
            "one element": ({"X": array(1)}, {times: [4]}),
            "no rows": ({"X": array(0, 4)}, {times: [2, 2]}),
            **cases,
        },
        gradients=["X"],
        refusals={
            "none": ({"X": array(3)}, {times: [0]}, pm.ProgramError, f"{times} 0"),
            "negative": ({"X": array(3)}, {times: [-1]}, pm.ProgramError, f"{times} -1"),
            "too large": ({"X": array(3, 4, 5)}, {times: [2147483647] * 3}, pm.Error, ""),
            **refusals,
        },
    )
    return test, op_tests(op_type, reference, cases={"integers": ({"X": ints(2, 3)}, {times: [2, 2]})})
