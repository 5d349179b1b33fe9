"""fetch: marks a result of an inference program."""

import numpy as np
import pytest

import paddle_mini as pm


def program():
    result = pm.Program()
    block = result.global_block()
    block.create_var("fetch", kind=10, persistable=True)
    block.create_var("x", dtype="float32", shape=[-1, 2], need_check_feed=True)
    for col, factor in enumerate((2.0, 3.0)):
        block.append_op("scale", {"X": "x"}, {"Out": f"out{col}"}, {"scale": factor})
        block.append_op("fetch", {"X": f"out{col}"}, {"Out": "fetch"}, {"col": col})
    return result


def test_a_run_gives_what_its_caller_names():
    """The marks list the outputs of a loaded model; they cost nothing when it runs."""
    x = np.float32([[1, 2]])
    (found,) = pm.Executor(pm.CPUPlace()).run(program(), feed={"x": x}, fetch_list=["out1"], scope=pm.Scope())
    np.testing.assert_array_equal(found, 3 * x)


def test_refuses_a_negative_column():
    with pytest.raises(pm.ProgramError, match="'col' is -1"):
        program().global_block().append_op("fetch", {"X": "x"}, {"Out": "fetch"}, {"col": -1})
