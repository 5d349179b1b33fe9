"""A bool from outside is the byte 0 or 1: operators would read another one in different ways."""

import re

import numpy as np
import pytest

import paddle_mini as pm
from own_operators.children import said

WRONG = np.array([0, 1, 0, 1, 1, 0, 1, 1, 0, 255, 1], "uint8").view("bool")
MESSAGE = "has the byte 255 as the bool 9; it must be 0 or 1"


@pytest.fixture
def mask():
    with pm.program_guard(pm.Program(), pm.Program()):
        yield pm.layers.data("mask", [-1], dtype="bool")


def test_fed(mask):
    out = pm.layers.logical_not(mask)
    with pytest.raises(pm.OpError, match="'mask' " + MESSAGE):
        pm.Executor().run(pm.default_main_program(), feed={"mask": WRONG}, fetch_list=[out])


def test_set():
    scope = pm.Scope()
    scope.set("mask", np.zeros(11, "bool"))
    with pytest.raises(pm.OpError, match="'mask' " + MESSAGE):
        scope.set("mask", WRONG)
    assert not scope.get("mask").any()


def test_in_a_file(tmp_path):
    scope, exe = pm.Scope(), pm.Executor()
    with pm.program_guard(pm.Program(), pm.Program()):
        pm.layers.create_global_var([11], True, "bool", persistable=True, name="mask")
        exe.run(pm.default_startup_program(), scope=scope)
        main = pm.default_main_program()
        pm.io.save_persistables(exe, str(tmp_path), main, filename="all", scope=scope)
        path = tmp_path / "all"
        path.write_bytes(path.read_bytes()[:-2] + bytes([255, 1]))
        for beside in tmp_path.glob("all.*"):
            beside.unlink()
        with pytest.raises(pm.Error, match=re.escape("has the byte 255 as the bool 9")):
            pm.io.load_persistables(exe, str(tmp_path), main, filename="all", scope=scope)
    assert scope.get("mask").all()


def test_of_a_function_of_python(tmp_path):
    """In a process of its own, whose table of operators keeps it."""
    code = """
wrong = np.array([0, 1, 0, 1, 1, 0, 1, 1, 0, 255, 1], "uint8").view("bool")

@pm.python_op(no_gradient="it is for a test", outputs={"out": lambda x: (x.shape, "bool")})
def wrong_bools(x):
    return wrong

out = wrong_bools(pm.layers.data("mask", [-1], dtype="bool"))
refused(lambda: pm.Executor().run(feed={"mask": np.zeros(11, "bool")}, fetch_list=[out]))
"""
    assert f"'Out' {MESSAGE}" in said(code, tmp_path)[0]
