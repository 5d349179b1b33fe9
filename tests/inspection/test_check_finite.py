"""pm.check_finite: the first operator whose output is not finite, in forward, backward and optimizer; the scope is unchanged."""

import threading

import numpy as np
import pytest

import paddle_mini as pm
from loops import doubled_in_a_loop
from small_model import SmallModel, assert_same_bits, batch

L = pm.layers
PLACES = [pm.CPUPlace(), pm.EmulatedPlace(0)]


def refused(run):
    with pytest.raises(pm.OpError) as caught:
        run()
    return str(caught.value)


def with_nan(number):
    feed = batch(number)
    feed["x"] = feed["x"].copy()
    feed["x"][2, 3] = np.nan
    return feed


def run(model, feed):
    return model.exe.run(model.main, feed, [model.loss], model.scope)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_forward(place):
    model = SmallModel(pm.optimizer.Momentum(0.1, 0.9).minimize, place=place)
    with pm.check_finite():
        model.step(0), model.step(1)
        before = model.everything()
        message = refused(lambda: run(model, with_nan(0)))
        first, *_, last = message.splitlines()
        assert first.startswith("mul: Out 'fc_0.tmp_0' [8, 5] float32 has 5 NaN and 0 infinite elements, the first at [2, 0]")
        assert "run 3 of this program" in first and "small_model.py" in last and len(message.splitlines()) <= 12
        assert_same_bits(model.everything(), before)
        model.step(2)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_backward(place):
    """The derivative of the square root is infinite at 0; the forward values are finite."""
    x = L.data("x", shape=[-1, 4])
    h = L.fc(x, 4, bias_attr=False)
    loss = L.mean(L.sqrt(L.relu(h)))
    pm.optimizer.SGD(0.1).minimize(loss)
    exe = pm.Executor(place)
    exe.run(pm.default_startup_program())
    weight = pm.global_scope().get("fc_0.w_0").copy()
    with pm.check_finite():
        message = refused(lambda: exe.run(feed={"x": np.zeros((2, 4), "float32")}, fetch_list=[loss]))
    assert message.startswith("sqrt_grad: X@GRAD") and "8 infinite" in message and "test_check_finite.py" in message
    assert (pm.global_scope().get("fc_0.w_0") == weight).all()


@pytest.mark.parametrize("averaged", [False, True])
def test_optimizer(averaged):
    """The step overflows; with an average it is one of the operators of a fused step."""
    optimizer = pm.optimizer.SGD(3e38)
    if averaged:
        optimizer = pm.optimizer.ParameterAverage(optimizer, pm.averaging.Exponential(0.9), non_finite="skip")
    x = L.data("x", shape=[-1, 4])
    loss = L.mean(L.fc(x, 4, bias_attr=False))
    optimizer.minimize(loss)
    exe, scope = pm.Executor(), pm.global_scope()
    exe.run(pm.default_startup_program())
    before = {name: scope.get(name) for name in scope.names()}
    with pm.check_finite():
        message = refused(lambda: exe.run(feed={"x": np.full((2, 4), 1e3, "float32")}, fetch_list=[loss]))
    assert message.startswith("sgd: ParamOut 'fc_0.w_0' [4, 4] float32 has 0 NaN and 16 infinite elements"), message
    assert "run 1 of this program" in message
    assert_same_bits({name: scope.get(name) for name in scope.names()}, before)


def test_a_fused_step_names_its_first_operator():
    """The average refuses the value too, but the optimizer wrote it."""
    optimizer = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.Exponential(0.9), non_finite="skip")
    model = SmallModel(optimizer.minimize)
    model.step()
    value = model.scope.get("fc_1.b_0_average_0").copy()
    value[1] = np.inf
    model.scope.set("fc_1.b_0_average_0", value)
    with pm.check_finite():
        message = refused(lambda: model.step(1))
    assert message.startswith("parameter_average: AverageOut 'fc_1.b_0_average_0'"), message


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("value, kind", [(np.nan, "1 NaN and 0"), (np.inf, "0 NaN and 1"), (-np.inf, "0 NaN and 1")])
def test_every_float_type(dtype, value, kind):
    x = L.data("x", shape=[3, 2], dtype="float64")
    y = L.cast(x, dtype)
    exe = pm.Executor()
    array = np.arange(6.0).reshape(3, 2) - 3
    with pm.check_finite():
        exe.run(feed={"x": array}, fetch_list=[y])
        array[1, 0] = value
        assert f"{kind} infinite elements, the first at [1, 0]" in refused(lambda: exe.run(feed={"x": array}, fetch_list=[y]))


def test_infinities_may_be_allowed():
    x = L.data("x", shape=[2])
    y = L.log(x)
    exe = pm.Executor()
    with pm.check_finite(infinities=False):
        (value,) = exe.run(feed={"x": np.zeros(2, "float32")}, fetch_list=[y])
        assert (value == -np.inf).all()
        assert "2 NaN" in refused(lambda: exe.run(feed={"x": -np.ones(2, "float32")}, fetch_list=[y]))


def test_integers_and_unwritten_shapes_are_not_floats():
    x = L.data("x", shape=[2, 2], dtype="int64")
    y = L.reshape(x, [4])
    with pm.check_finite():
        (value,) = pm.Executor().run(feed={"x": np.full((2, 2), -1)}, fetch_list=[y])
    assert (value == -1).all()


def test_a_loop():
    x = L.data("x", shape=[-1, 2])
    y = doubled_in_a_loop(L.assign(x), steps=200)
    exe = pm.Executor()
    feed = {"x": np.ones((1, 2), "float32")}
    with pm.check_finite():
        message = refused(lambda: exe.run(feed=feed, fetch_list=[y]))
    assert "scale: Out" in message and "2 infinite" in message and "loops.py" in message and len(message.splitlines()) <= 12


def test_a_shape_that_depends_on_data():
    block = pm.default_main_program().global_block()
    x, mask = L.data("x", shape=[4]), L.data("mask", shape=[4], dtype="bool")
    block.append_op("masked_select", {"X": x, "Mask": mask}, {"Y": "taken"})
    exe, array = pm.Executor(), np.array([1, np.nan, 2, np.nan], "float32")
    with pm.check_finite():
        exe.run(feed={"x": array, "mask": np.array([True, False, True, False])}, fetch_list=["taken"])
        message = refused(lambda: exe.run(feed={"x": array, "mask": np.ones(4, bool)}, fetch_list=["taken"]))
    assert message.startswith("masked_select: Y 'taken' [4] float32 has 2 NaN"), message


def test_other_threads_and_a_sparse_gradient():
    ids = L.data("ids", shape=[-1, 1], dtype="int64")
    loss = L.mean(L.sqrt(L.embedding(ids, [10, 4], is_sparse=True, param_attr=pm.ParamAttr(name="table"))))
    pm.optimizer.SGD(0.1).minimize(loss)
    exe, scope = pm.Executor(), pm.global_scope()
    exe.run(pm.default_startup_program())
    table = np.ones((10, 4), "float32")
    table[3] = 0
    scope.set("table", table)
    messages, main = [], pm.default_main_program()

    def other_thread():
        feed = {"ids": np.array([[3], [5]])}
        messages.append(refused(lambda: exe.run(main, feed=feed, fetch_list=[loss], scope=scope)))

    with pm.check_finite():
        thread = threading.Thread(target=other_thread)
        thread.start()
        thread.join()
    assert messages and messages[0].startswith("sqrt_grad: X@GRAD")
    assert (scope.get("table") == table).all()


def test_outside_nothing_is_checked_and_checks_do_not_nest():
    model = SmallModel()
    with pm.check_finite(), pytest.raises(pm.ProgramError, match="on already"), pm.check_finite():
        pass
    assert np.isnan(run(model, with_nan(0))[0])


def test_checked_steps_have_the_same_bits():
    def averaged(place):
        optimizer = pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.1), pm.averaging.Window(3))
        return SmallModel(optimizer.minimize, place=place)

    for place in PLACES:
        model, same = averaged(place), averaged(place)
        for number in range(4):
            with pm.check_finite(), pm.profile() as profile:
                model.step(number)
            same.step(number)
        assert profile.rows
        assert_same_bits(model.everything(), same.everything())


def test_replicas_agree():
    x = L.data("x", shape=[-1, 4])
    loss = L.mean(L.fc(x, 3))
    replicas = pm.DataParallel([pm.EmulatedPlace(0), pm.EmulatedPlace(1)])
    replicas.wrap(pm.optimizer.Momentum(0.1, 0.9)).minimize(loss)
    replicas.run(pm.default_startup_program())
    before = [{name: scope.get(name) for name in scope.names()} for scope in replicas.scopes]
    good = np.ones((4, 4), "float32")
    bad = good.copy()
    bad[3] = np.nan  # the rows of the second replica
    with pm.check_finite():
        message = refused(lambda: replicas.run(feed={"x": bad}, fetch_list=[loss]))
        assert message.startswith("replica 1 of 2: mul: Out") and "[1, 0]; run 1 of" in message
        for scope, values in zip(replicas.scopes, before):
            assert_same_bits({name: scope.get(name) for name in values}, values)
        replicas.run(feed={"x": good}, fetch_list=[loss])
    assert replicas.check_equal() is None and (replicas.scopes[0].get("fc_0.w_0") != before[0]["fc_0.w_0"]).any()


def test_a_call_without_with_is_a_warning():
    with pytest.warns(UserWarning, match=r"pm.check_finite\(\) has an effect inside `with` only") as caught:
        pm.check_finite()
    assert caught[0].filename == __file__


def test_what_runs_after_the_call_is_not_decorated():
    async def coroutine():
        pass

    def generator():
        yield

    for function in (coroutine, generator):
        with pytest.raises(pm.ProgramError, match=f"'{function.__name__}' is a generator or a coroutine"):
            pm.check_finite()(function)


def test_it_decorates_functions():
    y = L.log(L.data("x", [-1, 2]))

    @pm.check_finite()
    def log(x):
        return pm.Executor().run(feed={"x": np.full((1, 2), x, "float32")}, fetch_list=[y])[0].tolist()

    assert log(1) == log(1) == [[0, 0]]
    assert "log: Out " in refused(lambda: log(0))
    assert pm.Executor().run(feed={"x": np.zeros((1, 2), "float32")}, fetch_list=[y])[0].tolist() == [[-np.inf, -np.inf]]
