# Shared tests of lookup_table and lookup_table_v2, whose ids have other shapes.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle_mini as pm
from harness import Rows, array, run_op

Shaped = Callable[[list[int]], np.ndarray]


def lookup_cases(shaped: Shaped) -> dict[str, Any]:
    ids = shaped([2, 0, 2, 1])
    return {
        "padding": ({"W": array(4, 3), "Ids": ids}, {"padding_idx": 2}),
        "sparse": ({"W": array(4, 3), "Ids": ids}, {"is_sparse": True}),
        "rows of nothing": ({"W": array(4, 0), "Ids": shaped([2, 0])}, {}),
    }


def lookup_refusals(shaped: Shaped) -> dict[str, Any]:
    return {
        "negative id": ({"W": array(9, 3), "Ids": shaped([0, -1])}, {}, pm.OpError, "-1 position 1"),
        "no table": ({"W": array(0, 3), "Ids": shaped([0])}, {}, pm.OpError, "0 rows"),
    }


def gradient_tests(op_type: str, shaped: Shaped) -> tuple[Callable[..., None], Callable[..., None], Callable[..., None]]:
    """Tests of the sparse gradient, of the padding row, and of an id out of range."""

    def gradient(ids: list[int], padding: int, sparse: bool) -> tuple[Any, np.ndarray]:
        inputs = {"W": array(5, 2), "Ids": shaped(ids), "Out@GRAD": array(len(ids), 2, seed=1)}
        return run_op(f"{op_type}_grad", inputs, {"padding_idx": padding, "is_sparse": sparse})["W@GRAD"], inputs["Out@GRAD"]

    def test_sparse() -> None:
        found, out_gradient = gradient([3, 0, 3], -1, True)
        assert isinstance(found, Rows) and found.height == 5
        np.testing.assert_array_equal(found.rows, [3, 0, 3])
        np.testing.assert_array_equal(found.values, out_gradient)

    def test_padding() -> None:
        dense, out_gradient = gradient([3, 0, 3], 3, False)
        np.testing.assert_array_equal(dense, [out_gradient[1], [0, 0], [0, 0], [0, 0], [0, 0]])
        sparse, out_gradient = gradient([3, 0, 3], 3, True)
        np.testing.assert_array_equal(sparse.dense()[3], out_gradient[0] + out_gradient[2])

    @pytest.mark.parametrize("sparse", [False, True])
    def test_range(sparse: bool) -> None:
        with pytest.raises(pm.OpError, match="id 5 at position 1"):
            gradient([0, 5], -1, sparse)

    return test_sparse, test_padding, test_range
