"""feed: marks an input of an inference program; its value comes from the caller of a run."""

import numpy as np
import pytest

import paddle_mini as pm


def program():
    """As saved by save_inference_model: feeds in descending order, then the operators, then the fetch."""
    result = pm.Program()
    block = result.global_block()
    block.create_var("feed", kind=9, persistable=True)
    block.create_var("fetch", kind=10, persistable=True)
    for name in ("x", "y"):
        block.create_var(name, dtype="float32", shape=[-1, 2], need_check_feed=True)
    block.append_op("feed", {"X": "feed"}, {"Out": "y"}, {"col": 1})
    block.append_op("feed", {"X": "feed"}, {"Out": "x"}, {"col": 0})
    block.append_op("elementwise_sub", {"X": "x", "Y": "y"}, {"Out": "out"}, {})
    block.append_op("fetch", {"X": "out"}, {"Out": "fetch"}, {"col": 0})
    return pm.Program.from_bytes(result.to_bytes())


def run(feed):
    return pm.Executor(pm.CPUPlace()).run(program(), feed=feed, fetch_list=["out"], scope=pm.Scope())


def test_values_come_by_name():
    x, y = np.float32([[1, 2], [3, 4]]), np.float32([[5, 6], [7, 8]])
    np.testing.assert_array_equal(run({"x": x, "y": y})[0], x - y)


def test_refuses_a_missing_value():
    with pytest.raises(pm.OpError, match="feed 'y' is missing"):
        run({"x": np.zeros((1, 2), "float32")})


def test_refuses_a_negative_column():
    block = program().global_block()
    with pytest.raises(pm.ProgramError, match="'col' is -1"):
        block.append_op("feed", {"X": "feed"}, {"Out": "x"}, {"col": -1})
