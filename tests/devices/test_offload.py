"""Averages on the CPU while training runs on the device: the same bits as on any other place."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import averaging
from small_model import SmallModel, assert_same_bits, batch
from thorough import some
from training_run import SCHEMES, Run

STEPS = 9


def trained(place, average_place=None, steps=STEPS, **arguments):
    run = Run(place=place, average_place=average_place, **arguments)
    for number in range(steps):
        run.exe.run(run.main, batch(number), [run.loss], run.scope)
    return run


def reference(place):
    """The place where the same training with averages has the same bits. A GPU's products differ from the CPU's."""
    return pm.CPUPlace() if place.name.startswith("emulated") else place


def parameters_of(run):
    return [parameter.name for parameter in run.main.all_parameters()]


def everything(run):
    return {name: run.scope.get(name) for name in sorted(run.scope.names())}


@pytest.mark.parametrize("scheme", [*sorted(SCHEMES), "Window+Exponential+Uniform"])
@pytest.mark.parametrize("table", [False, True], ids=["dense", "table"])
def test_every_scheme(place, scheme, table):
    here = everything(trained(reference(place), scheme=scheme, table=table))
    assert_same_bits(everything(trained(place, scheme=scheme, table=table)), here)
    assert_same_bits(everything(trained(place, pm.CPUPlace(), scheme=scheme, table=table)), here)


@pytest.mark.parametrize("scheme", ["Window", "Uniform", "Exponential", "Window+Exponential"])
def test_rows_of_tables(place, scheme):
    """SGD does not change rows without gradient, so a table's averages are lazy: only changed rows of the table are
    transferred."""
    if place.name.startswith("gpu"):
        pytest.skip("a GPU leaves sparse gradients, and the table with them, to the CPU")
    arguments = dict(optimizer="SGD", scheme=scheme, table=True)
    here, there = trained(reference(place), **arguments), trained(place, pm.CPUPlace(), **arguments)
    assert_same_bits(everything(there), everything(here))
    text = there.exe.plan_text(there.main, batch(0), [], there.scope)
    copied = [line for line in text.splitlines() if " memcpy_d2h(" in line]
    assert " average_rows(" in text and any("selected rows" in line or "_rows" in line for line in copied), text
    assert not any("X=embedding_0.w_0 " in line for line in copied), copied


@pytest.mark.parametrize(
    "arguments",
    [dict(every=3), dict(start_step=4), dict(every=2, start_step=3), dict(non_finite="skip"), dict(non_finite="raise")],
    ids=str,
)
def test_every_way(place, arguments):
    here = everything(trained(reference(place), **arguments))
    assert_same_bits(everything(trained(place, pm.CPUPlace(), **arguments)), here)


@pytest.mark.parametrize("optimizer", ["SGD", "Momentum", "GradientMerge", "LossScaling", "Lookahead"])
def test_any_optimizer(place, optimizer):
    here = everything(trained(reference(place), optimizer=optimizer))
    assert_same_bits(everything(trained(place, pm.CPUPlace(), optimizer=optimizer)), here)


def test_nothing_of_the_averages_is_on_the_device(place):
    run = trained(place, pm.CPUPlace(), scheme="Window+Exponential")
    places = {name: run.scope.place(name) for name in run.scope.names()}
    on_host = {name for name, where in places.items() if "average" in name or "counter" in name}
    assert on_host and all(places[name] == "cpu" for name in on_host), places
    assert all(places[name] == place.name for name in parameters_of(run)), places


def test_averages_cost_the_device_no_byte(place):
    used = []
    for average in (None, pm.CPUPlace()):
        before = pm.devices.memory_use(place, forget_peak=True)
        model = SmallModel(
            lambda loss: (
                pm.optimizer.Adam(0.1)
                if average is None
                else pm.optimizer.ParameterAverage(
                    pm.optimizer.Adam(0.1), [averaging.Window(3), averaging.Uniform()], place=average
                )
            ).minimize(loss),
            place=place,
        )
        model.step()
        pm.devices.memory_use(place, forget_peak=True)
        for number in range(3):
            model.step(number)
        model.scope.synchronize()
        use = pm.devices.memory_use(place)
        used.append((use.in_use - before.in_use, use.peak - before.in_use))
        del model
    assert used[1] <= used[0], used


def test_large_parameters_pass_in_pieces(place):
    """Staging memory is a ring: here one step fills it many times."""
    pm.devices.emulate(0, staging=4096) if place.name.startswith("emulated") else None

    def run(on, at):
        main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(main, startup):
            x = pm.layers.data("x", [-1, 70])
            loss = pm.layers.mean(pm.layers.square(pm.layers.fc(pm.layers.fc(x, 90), 33)))
            pm.optimizer.ParameterAverage(
                pm.optimizer.SGD(0.1), [averaging.Window(3), averaging.Exponential(0.5)], place=at
            ).minimize(loss)
        exe = pm.Executor(on)
        pm.seed(4)
        exe.run(startup, scope=scope)
        x = np.random.RandomState(0).randn(5, 70).astype("float32")
        for _ in range(5):
            exe.run(main, {"x": x}, [], scope)
        return {name: scope.get(name) for name in sorted(scope.names())}, exe.plan_text(main, {"x": x}, [], scope)

    here, _ = run(reference(place), None)
    there, text = run(place, pm.CPUPlace())
    assert_same_bits(there, here)
    if place.name.startswith("emulated"):
        assert "elements 256 to 512" in text and "elements 6144 to 6300" in text


@pytest.mark.parametrize("seed", some(range(10), 4))
def test_random_delays_change_nothing(place, seed):
    """Random delays of the queues: a hundred seeds in each of these tests."""
    here = everything(trained(reference(place), steps=3, scheme="Window+Exponential"))
    run = Run(place=place, average_place=pm.CPUPlace(), scheme="Window+Exponential")
    start, state = everything(run), run.exe.random_state()
    for delays in range(100 * seed, 100 * seed + 100):
        for name, value in start.items():
            run.scope.set(name, value)
        run.exe.set_random_state(state)
        pm.devices.emulate(0, delays=1 + delays, most_delay=2e-5, staging=4096)
        for number in range(3):
            run.exe.run(run.main, batch(number), [run.loss] if number % 2 else [], run.scope)
        found = {name: run.scope.get(name) for name in start}
        assert_same_bits(found, {name: here[name] for name in start})
    pm.devices.emulate(0)


def test_apply_and_restore_at_any_moment(place):
    same = trained(reference(place))
    state = same.exe.random_state()  # pm.seed restarts those of all executors
    run = trained(place, pm.CPUPlace())
    same.exe.set_random_state(state)
    test = run.main.clone(for_test=True)
    for number in range(3):
        raw = {name: run.scope.get(name) for name in parameters_of(run)}
        for one in (run, same):
            with one.average.apply(one.exe, scope=one.scope):
                one.seen = one.exe.run(test, batch(number), [run.loss.name], one.scope)[0]
                one.bound = {name: one.scope.get(name) for name in parameters_of(one)}
        np.testing.assert_array_equal(run.seen, same.seen)
        assert_same_bits(run.bound, same.bound)
        assert_same_bits({name: run.scope.get(name) for name in parameters_of(run)}, raw)
        for one in (run, same):
            one.exe.run(one.main, batch(number), [], one.scope)
    assert_same_bits(everything(run), everything(same))


def test_checkpoints_at_any_moment(place, tmp_path):
    same = trained(reference(place))
    run = trained(place, pm.CPUPlace(), steps=4)
    manager = pm.io.CheckpointManager(tmp_path)
    run.exe.run(run.main, batch(4), [], run.scope)
    run.save(manager, 5)
    run.exe.run(run.main, batch(5), [], run.scope)
    again = Run(place=place, average_place=pm.CPUPlace())
    again.restore(manager)
    for number in range(5, STEPS):
        again.exe.run(again.main, batch(number), [], again.scope)
    assert_same_bits(everything(again), everything(same))
