"""Traps of the first day: cells run twice, NumPy's functions on variables, learning rates, saved parameters by name."""

import subprocess
import sys

import numpy as np
import pytest

import paddle_mini as pm
from programs import run, start

L = pm.layers

NETWORK = """
    x = pm.layers.data("x", [-1, 4])
    loss = pm.layers.mean(pm.layers.fc(x, 1))
    pm.optimizer.{}.minimize(loss)
    counts.append(len(pm.default_main_program().global_block().ops))
"""


def cells(first_line, optimizer="SGD(0.1)"):
    """The result and the output of a script, outside program_guard, that builds a network twice; warnings are errors."""
    code = (
        f"import paddle_mini as pm\ncounts = []\nfor _ in range(2):\n    {first_line}{NETWORK.format(optimizer)}print(counts)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_a_network_that_is_built_twice_in_the_default_program():
    code, text = cells("pass")
    assert code and "UserWarning: the default program has an optimizer already" in text
    code, text = cells("pm.reset_default_programs()")
    first, second = eval(text)
    assert not code and first == second > 3
    code, text = cells("pass", 'SGD(0.1, parameter_list=[f"fc_{_}.w_0"])')  # meant so
    assert not code, text
    code, text = cells("pass", 'GradientMerge(pm.optimizer.SGD(0.1, parameter_list=[f"fc_{_}.w_0"]), 2)')
    assert not code, text


def test_default_programs_are_not_reset_inside_a_guard():
    with pytest.raises(pm.ProgramError, match="inside program_guard"):
        pm.reset_default_programs()


def test_numpy_functions_name_the_layer():
    x = L.data("x", [-1, 4])
    before = pm.default_main_program().to_bytes()
    for call, layer in (
        (np.exp, "exp"),
        (np.abs, "abs"),
        (np.arctanh, "atanh"),
        (np.mean, "reduce_mean"),
        (np.sum, "reduce_sum"),
        (lambda x: np.maximum(x, 0), "elementwise_max"),
        (lambda x: np.concatenate([x, x]), "concat"),
        (lambda x: np.where(x, x, x), "where"),
        (lambda x: np.ones(3) == x, "equal"),
    ):
        with pytest.raises(pm.ProgramError, match=rf"'x' has no value while the program is built, so np.*layers.{layer} "):
            call(x)
    for call in (np.median, np.add.reduce, lambda x: np.add(x, 1, out=np.zeros(4)), lambda x: np.linalg.norm(x)):
        with pytest.raises(pm.ProgramError, match="no value while the program is built"):
            call(x)
    for call in (float, int):
        with pytest.raises(pm.ProgramError, match="so it is not a number; exe.run"):
            call(x)
    with pytest.raises(TypeError, match=r"'x' \[-1, 4\] has no len\(\)"):
        len(x)
    for call in (list, lambda x: 3 in x):
        with pytest.raises(TypeError, match="not iterable"):
            call(x)
    assert pm.default_main_program().to_bytes() == before and np.shape(x) == (-1, 4)


def test_numbers_and_arrays_of_numpy_beside_variables():
    x = L.data("x", [2])
    two = np.float32(2)
    outs = [two + x, two - x, two * x, two / x, two // x, two % x, two**x, x - two, x / two, x % two]
    outs += [two < x, two <= x, two > x, two >= x, np.int64(2) * x, np.float64(2) - x]
    value = np.float32([1.0, 4.0])
    expected = [two + value, two - value, two * value, two / value, two // value, two % value, two**value, value - two]
    expected += [value / two, value % two, two < value, two <= value, two > value, two >= value, two * value, two - value]
    for found, wanted in zip(run(*outs, x=value), expected, strict=True):
        np.testing.assert_allclose(found, wanted)
    for call in (lambda: np.ones(2) * x, lambda: x - np.ones(2), lambda: np.ones((2, 2)) @ x):
        with pytest.raises(pm.ProgramError, match="meets a NumPy array: layers.assign"):
            call()


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_learning_rate_can_be_set_and_read(wrapped):
    x = L.data("x", [-1, 4])
    loss = L.mean(L.fc(x, 1, param_attr=pm.ParamAttr("w", pm.initializer.Constant(0.0)), bias_attr=False))
    optimizer = inner = pm.optimizer.SGD(0.1)
    if wrapped:
        optimizer = pm.optimizer.ParameterAverage(inner, window_size=10)
    assert optimizer.get_lr() == 0.1
    optimizer.set_lr(0.2)
    optimizer.minimize(loss)
    assert optimizer.get_lr() == 0.2
    with pytest.raises(pm.OpError, match="learning_rate_0' has no value in the scope; run the startup program"):
        optimizer.set_lr(0.5)
    exe, feed, scope = start(), {"x": np.ones((2, 4), "float32")}, pm.global_scope()
    exe.run(feed=feed)
    np.testing.assert_allclose(scope.get("w"), -0.2, rtol=1e-6)
    optimizer.set_lr(0.5)
    exe.run(feed=feed)
    np.testing.assert_allclose(scope.get("w"), -0.7, rtol=1e-6)
    assert optimizer.get_lr() == inner.get_lr() == 0.5 == scope.get("learning_rate_0").item()
    other = pm.Scope()
    exe.run(pm.default_startup_program(), scope=other)
    optimizer.set_lr(0.25, other)
    assert (optimizer.get_lr(other), optimizer.get_lr()) == (0.25, 0.5)
    for wrong in (-1.0, float("nan"), "0.1", None):
        with pytest.raises(pm.ProgramError, match="set_lr"):
            optimizer.set_lr(wrong)
    assert optimizer.get_lr() == 0.5


def test_a_rate_that_something_else_computes_is_not_set():
    schedule = pm.lr.StepDecay(0.1, 3)
    optimizer = pm.optimizer.SGD(schedule)
    assert optimizer.get_lr() == schedule() == 0.1
    with pytest.raises(pm.ProgramError, match="the learning rate is StepDecay"):
        optimizer.set_lr(0.1)
    computed = pm.optimizer.SGD(L.exponential_decay(0.1, 10, 0.5))
    for call in (computed.get_lr, lambda: computed.set_lr(0.1)):
        with pytest.raises(pm.ProgramError, match="the program computes|the learning rate is Variable"):
            call()


def test_parameters_of_a_model_are_a_state_by_name(tmp_path):
    x = L.data("x", [-1, 4])
    out = L.fc(L.fc(x, 3, act="relu"), 2)
    exe = start()
    pm.io.save_inference_model(tmp_path / "m", [x], [out], exe)
    state = pm.io.load_state(tmp_path / "m.pdiparams")
    assert sorted(state) == ["fc_0.b_0", "fc_0.w_0", "fc_1.b_0", "fc_1.w_0"]
    for name, array in state.items():
        np.testing.assert_array_equal(array, pm.global_scope().get(name))
    (tmp_path / "m.pdmodel").unlink()
    with pytest.raises(pm.ProgramError, match="has no names of variables, and '.*m.pdmodel', which has them"):
        pm.io.load_state(tmp_path / "m.pdiparams")


def test_an_import_leaves_jobs_data_sets_and_files_until_they_are_used():
    code = (
        "import sys, paddle_mini as pm; late = ('paddle_mini.cluster', 'paddle_mini.data', "
        "'paddle_mini.io', 'paddle_mini.averaging.synthesis'); "
        "assert not any(name in sys.modules for name in late); assert pm.cluster.join and pm.data.batch; "
        "assert pm.io.load_state and pm.averaging.synthesize; "
        "assert all(name in sys.modules for name in late); assert all(getattr(pm, name) is not None for name in pm.__all__)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
