"""assert: refuses a run in which a condition is false."""

import numpy as np
import pytest

import paddle_mini as pm

L = pm.layers


def run(value, **attrs):
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        x = L.data("x", [1])
        positive = L.greater_than(x, L.fill_constant([1], "float32", 0.0))
        main.global_block().append_op("assert", {"Cond": positive, "Data": [x]}, {}, attrs)
        out = L.scale(x, scale=2.0)
    return pm.Executor().run(main, feed={"x": np.array([value], "float32")}, fetch_list=[out])[0]


def test_a_true_condition_changes_nothing():
    assert run(1.5).tolist() == [3.0]


def test_a_false_condition_refuses_the_run_and_shows_the_data():
    with pytest.raises(pm.OpError, match=r"is false, it must be true; x = \[-1.5\]"):
        run(-1.5)
    with pytest.raises(pm.OpError, match=r"is false, it must be true; x = \[ \.\.\.\]"):
        run(-1.5, summarize=0)


def test_a_condition_must_be_one_bool():
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        x = L.data("x", [2])
        main.global_block().append_op("assert", {"Cond": x}, {}, {})
    with pytest.raises(pm.Error, match="Cond"):
        pm.Executor().run(main, feed={"x": np.ones(2, "float32")})
