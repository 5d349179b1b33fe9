"""average_accumulates: adds a parameter to the sums from which ModelAverage computes its average."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests
from paddle_mini.testing.one_op import OneOp


def reference(inputs, attrs):
    p, s1, s2, s3 = (inputs[port] for port in ("param", "in_sum_1", "in_sum_2", "in_sum_3"))
    n, old, updates = (inputs[port] for port in ("in_num_accumulates", "in_old_num_accumulates", "in_num_updates"))
    updates, n, s1 = updates + 1, n + 1, s1 + p
    if updates % 16384 == 0:
        s1, s2 = np.zeros_like(p), s2 + s1
    share = int(np.float32(updates.item()) * np.float32(attrs["average_window"]))
    if n >= attrs["min_average_window"] and n >= min(attrs["max_average_window"], share):
        s1, s2, s3, n, old = np.zeros_like(p), np.zeros_like(p), s1 + s2, n * 0, n
    return {
        "out_sum_1": s1,
        "out_sum_2": s2,
        "out_sum_3": s3,
        "out_num_accumulates": n,
        "out_old_num_accumulates": old,
        "out_num_updates": updates,
    }


def step(*shape, n=3, old=2, updates=20):
    number = lambda value: np.full(1, value, "int64")
    return {
        "param": array(*shape),
        **{f"in_sum_{i}": array(*shape, seed=i) for i in (1, 2, 3)},
        "in_num_accumulates": number(n),
        "in_old_num_accumulates": number(old),
        "in_num_updates": number(updates),
    }


ENDS = {"average_window": 0.5, "min_average_window": 3, "max_average_window": 10}

test_average_accumulates = op_tests(
    "average_accumulates",
    reference,
    cases={
        "continues": (step(5, 7), {}),
        "window ends": (step(5, 7, n=9, updates=19), ENDS),
        "spill": (step(40, updates=16383), {}),
        "spill and end": (step(40, n=9, updates=16383), ENDS),
        "longest window": (step(9, n=9, updates=1000), ENDS),
        "shorter than the shortest": (step(9, n=1, updates=1), ENDS),
        "huge window": (step(9), {"average_window": 1e30, "min_average_window": 1}),
        "window 0": (step(9), {"min_average_window": -5}),
        "one element": (step(), {}),
        "no rows": (step(0, 4, n=9), ENDS),
    },
    refusals={
        "other shape": (step(3) | {"in_sum_2": array(4)}, {}, pm.ShapeError, "param [3] in_sum_2 [4]"),
        "min over max": (step(3), {"max_average_window": 4}, pm.ProgramError, "min_average_window 10000 4"),
        "float count": (step(3) | {"in_num_updates": np.ones(1)}, {}, pm.ShapeError, "in_num_updates int64"),
        "two counts": (step(3) | {"in_num_updates": np.ones(2, "int64")}, {}, pm.ShapeError, "in_num_updates [2]"),
        "window below 0": (step(3), {"average_window": -0.5}, pm.ProgramError, "average_window at least 0"),
    },
)

# n, updates, attributes; then sum_1, sum_2, sum_3, n, old n. PaddlePaddle's numbers.
ANCHORS = {
    "plain": (3, 20, {}, (6, 20, 300, 4, 0)),
    "spill": (3, 16383, {}, (0, 26, 300, 4, 0)),
    "roll": (9, 19, {"average_window": 0.5, "min_average_window": 10}, (0, 0, 26, 0, 10)),
    # 7 * 0.5 is rounded towards 0.
    "truncation": (2, 6, {"average_window": 0.5, "min_average_window": 1}, (0, 0, 26, 0, 3)),
}


@pytest.mark.parametrize("name", ANCHORS)
@pytest.mark.parametrize("aliased", [True, False])
def test_anchors(name, aliased):
    # Trap: with output variables of their own PaddlePaddle loses the parameter where the window ends (21, not 26).
    n, updates, attrs, expected = ANCHORS[name]
    inputs = step(1, n=n, old=0, updates=updates)
    inputs |= {"param": np.full(1, 5.0)} | {f"in_sum_{i}": np.full(1, v) for i, v in ((1, 1.0), (2, 20.0), (3, 300.0))}
    found = OneOp("average_accumulates", inputs, attrs, aliased=aliased).run()
    ports = ("out_sum_1", "out_sum_2", "out_sum_3", "out_num_accumulates", "out_old_num_accumulates")
    assert tuple(found[port].item() for port in ports) == expected
    assert found["out_num_updates"] == updates + 1
