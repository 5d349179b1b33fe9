"""Programs that use averages: one reads them in place of the parameters, others overwrite parameters."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import applied, averaged_model, train
from averages_by_definition import SCHEMES
from paddle_mini.averaging import BiasCorrected, Exponential, Latest, Uniform, Window
from small_model import assert_same_bits, batch

EARLY = [scheme for scheme in SCHEMES if scheme.start < 5 and (scheme.own_every or 1) < 5]
FEW = [Window(4), Window(1), Uniform(), Exponential(0.8), Latest(3), BiasCorrected()]
AS_IT_IS = [Exponential(0.8, compensated=True), Uniform(compensated=True)]


def for_testing(model):
    return model.main.clone(for_test=True).prune([model.x, model.label], [model.logits])


def logits(model, program, exe=None):
    return (exe or model.exe).run(program, batch(0, model.dtype), [model.logits.name], model.scope)[0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_program_that_reads_averages_gives_what_apply_gives(dtype):
    """For every scheme, after every step, the same bits; the scope is not changed and gets no copies."""
    model = averaged_model(EARLY, dtype=dtype)
    testing = for_testing(model)
    averaged = {scheme: model.average.program(testing, scheme) for scheme in EARLY}
    for number in range(6):
        model.step(number)
        before = model.everything()
        raw = logits(model, testing).tobytes()
        for scheme in EARLY:
            if number + 1 < max(scheme.own_every or 1, scheme.start + 1):
                continue
            with model.average.apply(model.exe, model.scope, scheme):
                wanted = logits(model, testing)
            assert logits(model, averaged[scheme]).tobytes() == wanted.tobytes(), scheme
        assert logits(model, testing).tobytes() == raw
        assert_same_bits(model.everything(), before)


def test_the_first_scheme_is_meant_where_none_is_named():
    model = averaged_model([Uniform(), Window(2)])
    train(model, 5)
    testing = for_testing(model)
    first, uniform, window = (
        logits(model, model.average.program(testing, scheme)).tobytes() for scheme in (None, Uniform(), Window(2))
    )
    assert first == uniform != window


@pytest.mark.parametrize("scheme", AS_IT_IS, ids=repr)
def test_what_is_one_variable_is_read_without_a_copy(scheme):
    """N6: by the same operators as the program that reads raw values; other schemes first compute their values."""
    model = averaged_model([scheme, Window(3)])
    train(model, 4)
    testing = for_testing(model)
    plan = model.exe.plan_text(model.average.program(testing, scheme), batch(0), [model.logits.name], model.scope)
    assert "average_value" not in plan and "assign" not in plan and "fc_0.w_0_average" in plan
    types = [op.type for op in model.average.program(testing, scheme).global_block().ops]
    assert types == [op.type for op in testing.global_block().ops]
    window = model.exe.plan_text(model.average.program(testing, Window(3)), batch(0), [model.logits.name], model.scope)
    assert window.count("average_value") >= 4


def test_before_the_first_update_the_program_reads_raw_values():
    model = averaged_model([Uniform(), Window(3), Latest(2)], start_step=5)
    testing = for_testing(model)
    averaged = [model.average.program(testing, scheme) for scheme in model.average.schemes]
    for number in range(3):
        for program in averaged:
            assert logits(model, program).tobytes() == logits(model, testing).tobytes()
        model.step(number)


def test_the_training_program_is_not_bound_to_averages():
    model = averaged_model(Uniform())
    before = model.main.to_bytes()
    with pytest.raises(pm.ProgramError, match=r"this program changes 'fc_0\.[bw]_0'; .* clone\(for_test=True\)"):
        model.average.program(model.main)
    testing = for_testing(model)
    text = testing.to_bytes()
    model.average.program(testing)
    assert (testing.to_bytes(), model.main.to_bytes()) == (text, before)


def test_a_program_without_averaged_parameters_stays_as_it_is():
    model = averaged_model(Window(3))
    other = pm.Program()
    with pm.program_guard(other, pm.Program()):
        pm.layers.relu(pm.layers.data("x", [3]))
    assert model.average.program(other).to_bytes() == other.to_bytes()


def evaluate(model, program, times, results, failures, go_on=lambda: True):
    exe = pm.Executor()
    try:
        for _ in range(times):
            results.append(logits(model, program, exe).tobytes())
            if not go_on():
                return
    except BaseException as error:
        failures.append(error)


def run_together(*threads):
    threads = [threading.Thread(target=target, args=args) for target, *args in threads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("scheme", [Uniform(), Window(3)], ids=repr)
def test_raw_and_averaged_at_the_same_time(scheme):
    model = averaged_model(scheme)
    train(model, 5)
    testing = for_testing(model)
    averaged = model.average.program(testing)
    wanted = [logits(model, program).tobytes() for program in (testing, averaged)]
    found, failures = ([], []), []
    run_together(*((evaluate, model, program, 300, values, failures) for program, values in zip((testing, averaged), found)))
    assert failures == []
    assert [set(one) for one in found] == [{wanted[0]}, {wanted[1]}] and wanted[0] != wanted[1]


@pytest.mark.parametrize("scheme", [Uniform(), Window(3)], ids=repr)
def test_raw_and_averaged_while_training_goes_on(scheme):
    """Each result belongs to one complete step, in order."""
    steps = 150
    alone, model = averaged_model(scheme), averaged_model(scheme)
    programs = [[for_testing(one), one.average.program(for_testing(one))] for one in (alone, model)]
    train(alone, 1), train(model, 1)
    wanted = [[logits(alone, program).tobytes()] for program in programs[0]]
    for number in range(1, steps):
        alone.step(number)
        for program, values in zip(programs[0], wanted):
            values.append(logits(alone, program).tobytes())
    found, failures = ([], []), []
    running = threading.Event()
    running.set()

    def training():
        try:
            for number in range(1, steps):
                model.step(number)
                while min(map(len, found)) < number // 10 and not failures:
                    time.sleep(0)
        finally:
            running.clear()

    run_together(
        (training,),
        *((evaluate, model, program, 10**6, values, failures, running.is_set) for program, values in zip(programs[1], found)),
    )
    assert failures == []
    for values, all_values in zip(found, wanted):
        places = [all_values.index(value) for value in values]
        assert places == sorted(places)
        assert len(set(places)) > 2, places
    assert_same_bits(model.everything(), alone.everything())


def pm_run(program, params, saved, declared=None, owner=None):
    words = [
        program,
        "--params",
        params,
        "--save-params",
        saved,
        *(["--save-for", declared] if declared else []),
        *(["--params-for", owner] if owner else []),
    ]
    done = subprocess.run([Path(sys.executable).parent / "pm_run", *words], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("scheme", FEW, ids=repr)
@pytest.mark.parametrize("steps", [0, 6])
def test_apply_program_through_pm_run_is_apply(tmp_path, scheme, steps):
    model = averaged_model(scheme)
    train(model, steps)
    pm.io.save_program(tmp_path / "trained", model.main, model.scope)
    (tmp_path / "apply.pdmodel").write_bytes(model.average.apply_program().to_bytes())
    if steps:
        with model.average.apply(model.exe, model.scope):
            pm.io.save_inference_model(tmp_path / "here", [model.x], [model.logits], model.exe, scope=model.scope)
    else:
        pm.io.save_inference_model(tmp_path / "here", [model.x], [model.logits], model.exe, scope=model.scope)
    pm_run(tmp_path / "apply.pdmodel", tmp_path / "trained.pdiparams", tmp_path / "there.pdiparams", tmp_path / "here.pdmodel")
    assert (tmp_path / "there.pdiparams").read_bytes() == (tmp_path / "here.pdiparams").read_bytes()


@pytest.mark.parametrize("scheme", EARLY, ids=repr)
def test_overwriting_programs_and_back(scheme):
    model = averaged_model([scheme, Window(5)])
    train(model, 6)
    before, averages = model.everything(), applied(model, scheme)
    model.exe.run(model.average.apply_program(scheme, keep_raw=True), scope=model.scope)
    assert_same_bits(model.values(), averages)
    assert_same_bits(
        {name: model.scope.get(f"{name}@RAW") for name in model.parameters}, {name: before[name] for name in model.parameters}
    )
    model.exe.run(model.average.restore_program(scheme), scope=model.scope)
    assert_same_bits(model.values(before), before)


def test_restore_takes_back_what_apply_program_kept():
    model = averaged_model(Uniform())
    train(model, 4)
    before = model.everything()
    model.exe.run(model.average.apply_program(keep_raw=True), scope=model.scope)
    with pytest.raises(pm.OpError, match="applied already"):
        applied(model)
    model.average.restore(scope=model.scope)
    assert_same_bits(model.everything(), before)


def test_restore_program_needs_raw_values():
    model = averaged_model(Uniform())
    train(model, 2)
    before = model.everything()
    with pytest.raises(pm.OpError, match="'fc_0.._0@RAW'"):
        model.exe.run(model.average.restore_program(), scope=model.scope)
    assert_same_bits(model.everything(), before)


@pytest.mark.parametrize("scheme", FEW, ids=repr)
def test_overwriting_programs_and_back_through_pm_run(tmp_path, scheme):
    """The intermediate file has the raw values and the averages: converted back, and again."""
    model = averaged_model(scheme)
    train(model, 6)
    before, averages = model.everything(), applied(model)
    overwriting, restoring = model.average.apply_program(keep_raw=True), model.average.restore_program()
    (tmp_path / "trained.pdmodel").write_bytes(model.main.to_bytes())
    (tmp_path / "restore.pdmodel").write_bytes(restoring.to_bytes())
    model.exe.run(overwriting, scope=model.scope)
    pm.io.save_program(tmp_path / "apply", overwriting, model.scope)
    files = [tmp_path / f"{name}.pdiparams" for name in ("apply", "back", "trained", "again")]
    pm_run(tmp_path / "restore.pdmodel", files[0], files[1])
    pm_run(tmp_path / "restore.pdmodel", files[0], files[2], tmp_path / "trained.pdmodel")
    pm_run(tmp_path / "apply.pdmodel", files[1], files[3])
    loaded = pm.Scope()
    pm.io.load_parameters(files[2], model.main, loaded)
    assert_same_bits({name: loaded.get(name) for name in before}, before)
    pm.io.load_parameters(files[3], overwriting, loaded)
    assert_same_bits({name: loaded.get(name) for name in model.parameters}, averages)
    assert files[3].read_bytes() == files[0].read_bytes()


def test_averages_are_read_by_programs_with_blocks():
    """Parameters that a conditional block reads, too."""
    average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.3), Window(2))
    x = pm.layers.data("x", [-1, 3])
    flag = pm.layers.data("flag", [1], dtype="bool")
    hidden = pm.layers.fc(x, 2, param_attr=pm.ParamAttr("w"), bias_attr=False)
    average.minimize(pm.layers.mean(pm.layers.square(hidden)))
    exe, scope, testing = pm.Executor(), pm.global_scope(), pm.Program()
    exe.run(pm.default_startup_program())
    values = np.random.RandomState(0).randn(4, 3).astype("float32")
    for _ in range(3):
        exe.run(feed={"x": values, "flag": np.array([True])})
    with pm.program_guard(testing, pm.Program()):
        x, flag = pm.layers.data("x", [-1, 3]), pm.layers.data("flag", [1], dtype="bool")
        w = testing.global_block().create_parameter("w", [3, 2])
        out = pm.layers.cond(flag, lambda: pm.layers.mul(x, w), lambda: pm.layers.mul(x, w) * 2.0)
    with average.apply(exe):
        wanted = values @ scope.get("w")
    bound = average.program(testing)
    for on, factor in ((True, 1), (False, 2)):
        (found,) = exe.run(bound, {"x": values, "flag": np.array([on])}, [out.name])
        np.testing.assert_allclose(found, wanted * factor, rtol=1e-6)
    assert np.abs(exe.run(testing, {"x": values, "flag": np.array([True])}, [out])[0] - wanted).max() > 1e-4


def test_the_file_of_the_training_program_is_averaged_with_the_raw_values_kept(tmp_path):
    model = averaged_model(Uniform())
    train(model, 4)
    before, averages = model.everything(), applied(model)
    pm.io.save_program(tmp_path / "trained", model.main, model.scope)
    overwriting = model.average.apply_program(keep_raw=True)
    (tmp_path / "apply.pdmodel").write_bytes(overwriting.to_bytes())
    pm_run(
        tmp_path / "apply.pdmodel",
        tmp_path / "trained.pdiparams",
        tmp_path / "applied.pdiparams",
        owner=tmp_path / "trained.pdmodel",
    )
    loaded = pm.Scope()
    pm.io.load_parameters(tmp_path / "applied.pdiparams", overwriting, loaded)
    assert_same_bits({name: loaded.get(name) for name in averages}, averages)
    assert_same_bits({name: loaded.get(f"{name}@RAW") for name in averages}, {name: before[name] for name in averages})
