"""ScheduleFree against its formulas, with warm-up, clipping and other wrappers; its averages; rejected combinations."""

import numpy as np
import pytest

import paddle_mini as pm
from optimizers import Table, gets_no_second_optimizer, goes_on_from_a_checkpoint
from paddle_mini.averaging import Uniform
from paddle_mini.optimizer.wrapper import chain
from small_model import SmallModel, assert_same_bits, batch
from small_model_steps import NAMES, TOLERANCE, Free, adam, assert_model_has, gradients, merged, of, sgd
from thorough import some

O = pm.optimizer
ScheduleFree, GradientMerge, LossScaling = O.ScheduleFree, O.GradientMerge, O.LossScaling


def averages(free, model):
    with free.apply(model.exe, model.scope):
        return model.values(NAMES)


def assert_close(found, expected, dtype):
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], err_msg=name)


CLIP = {"grad_clip": pm.clip.GradientClipByGlobalNorm(0.2), "regularization": 0.05}
CASES = {
    "sgd": (lambda rate: O.SGD(rate), lambda rate: sgd(rate), 0.3, 0.9, {}),
    "beta 0": (lambda rate: O.SGD(rate), lambda rate: sgd(rate), 0.3, 0.0, {}),
    "adamw": (
        lambda rate: O.AdamW(rate, 0.0, 0.99, weight_decay=0.1),
        lambda rate: adam(rate, 0.0, 0.99, decay=0.1),
        0.02,
        0.9,
        {},
    ),
    "regularized and clipped": (
        lambda rate: O.SGD(rate, **CLIP),
        lambda rate: sgd(rate),
        0.3,
        0.95,
        {"regularization": 0.05, "clip": 0.2},
    ),
}


@pytest.mark.parametrize("warms_up", [False, True], ids=["constant", "warm-up"])
@pytest.mark.parametrize("dtype", some(["float32", "float64"], 2))
@pytest.mark.parametrize("case", CASES)
def test_every_step_is_that_of_the_formulas(case, dtype, warms_up):
    """Both x and y; the warm-up begins with a rate of 0, and the rate falls at the end, while the largest rate stays."""
    optimizer, rule, rate, beta, facts = CASES[case]
    schedule = pm.lr.LinearWarmup(pm.lr.PiecewiseDecay([200], [rate, rate / 2]), 20, 0.0, rate) if warms_up else None
    free = ScheduleFree(optimizer(schedule if warms_up else rate), beta)
    model, values = of(free.minimize, dtype)
    expected = Free(values, rule, beta, **facts)
    for number in range(300):
        used = float(np.dtype(dtype).type(schedule() if warms_up else rate))
        expected.step(gradients(expected.values, number, dtype), used)
        model.step(number)
        assert_model_has(model, expected.values, dtype)
        if warms_up:
            schedule.step()
        if number % 50 in (0, 1, 49):
            assert_close(averages(free, model), expected.x, dtype)


@pytest.mark.parametrize(
    "make",
    [lambda inner: ScheduleFree(GradientMerge(inner, 3)), lambda inner: GradientMerge(ScheduleFree(inner), 3)],
    ids=["around", "inside"],
)
def test_merged_gradients_are_one_step(make):
    optimizer = make(O.SGD(0.3, **CLIP))
    (free,) = (one for one in chain(optimizer) if isinstance(one, ScheduleFree))
    model, values = of(optimizer.minimize, "float64")
    expected = Free(values, sgd, regularization=0.05, clip=0.2)
    for step in range(100):
        numbers = range(3 * step, 3 * step + 3)
        expected.step(merged(expected.values, numbers, "float64"), 0.3)
        for number in numbers:
            before = model.values()
            model.step(number)
            if number % 3 < 2:
                assert_same_bits(model.values(), before)
        assert_model_has(model, expected.values, "float64")
        assert free.statistics(model.scope).steps == step + 1
    assert_close(averages(free, model), expected.x, "float64")


@pytest.mark.parametrize(
    "make",
    [
        lambda inner: ScheduleFree(LossScaling(inner, 8.0)),
        lambda inner: LossScaling(ScheduleFree(inner), 8.0),
        lambda inner: GradientMerge(LossScaling(ScheduleFree(inner), 8.0), 1),
    ],
    ids=["around", "inside", "deep"],
)
def test_a_step_that_overflows_counts_nothing(make):
    optimizer = make(O.SGD(0.3))
    (free,) = (one for one in chain(optimizer) if isinstance(one, ScheduleFree))
    model, values = of(optimizer.minimize, "float64")
    expected = Free(values, sgd)
    kept = [name for name in model.scope.names() if "fc_" in name]
    for number in range(100):
        if number % 4 == 1:
            before, feed = model.values(kept), batch(number, "float64")
            feed["x"][0, 0] = np.inf
            model.exe.run(model.main, feed, scope=model.scope)
            assert_same_bits(model.values(kept), before)
        expected.step(gradients(expected.values, number, "float64"), 0.3)
        model.step(number)
    assert_model_has(model, expected.values, "float64")
    assert_close(averages(free, model), expected.x, "float64")
    assert free.statistics(model.scope).steps == 100


def test_parameters_that_were_loaded_after_the_startup_program_are_where_it_begins():
    free = ScheduleFree(O.SGD(0.3))
    model, values = of(free.minimize, "float64")
    values = {name: value + 1 for name, value in values.items()}
    for name, value in values.items():
        model.scope.set(name, value)
    expected = Free(values, sgd)
    for number in range(10):
        expected.step(gradients(expected.values, number, "float64"), 0.3)
        model.step(number)
        assert_model_has(model, expected.values, "float64")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_evaluating_in_between_changes_no_bit(dtype):
    looked_at, plain = (ScheduleFree(O.Adam(0.02, beta1=0.0)) for _ in range(2))
    first, second = SmallModel(looked_at.minimize, dtype), SmallModel(plain.minimize, dtype)
    for model in (first, second):
        model.step(0)
    for number in range(1, 30):
        before = first.everything()
        found = averages(looked_at, first)
        testing, feed = first.main.clone(for_test=True), batch(number, dtype)
        (logits,) = first.exe.run(looked_at.program(testing), feed, [first.logits.name], first.scope)
        with looked_at.apply(first.exe, first.scope):
            (again,) = first.exe.run(testing, feed, [first.logits.name], first.scope)
        assert logits.tobytes() == again.tobytes()
        assert number == 1 or any((found[name] != before[name]).any() for name in NAMES)
        assert_same_bits(first.everything(), before)
        first.step(number)
        second.step(number)
    assert_same_bits(first.everything(), second.everything())


def test_training_goes_on_from_a_checkpoint(tmp_path):
    free = [ScheduleFree(O.AdamW(0.02, beta1=0.0)) for _ in range(3)]
    through, first, second = (SmallModel(one.minimize) for one in free)
    goes_on_from_a_checkpoint(tmp_path, through, first, second)
    assert_same_bits(averages(free[2], second), averages(free[0], through))


def test_the_optimizer_asks_about_the_models_own_parameters():
    asked, ratios = [], []
    optimizer = O.AdamW(
        0.02,
        apply_decay_param_fun=lambda name: asked.append(name) or name.endswith(".w_0"),
        lr_ratio=lambda parameter: ratios.append(parameter.name) or 1.0,
    )
    model = SmallModel(ScheduleFree(optimizer).minimize)
    assert sorted(asked) == sorted(ratios) == sorted(NAMES) == sorted(model.parameters)
    decaying = [op for op in model.main.global_block().ops if op.type == "adamw"]
    decays = {op.input("Param")[0].split("_schedule_free")[0]: op.attr("with_decay") for op in decaying}
    assert decays == {name: name.endswith(".w_0") for name in NAMES}


def test_a_parameters_own_rate_is_not_its_weight():
    """The first parameter does not move; the others are averaged as usual."""
    attrs = {"param_attr": pm.ParamAttr(learning_rate=0.0)}
    rate = pm.lr.LinearWarmup(0.3, 5, 0.1, 0.3)
    model = SmallModel(ScheduleFree(O.SGD(rate)).minimize, "float64", **attrs)
    most, total = 0.0, 0.0
    z = x = model.scope.get("fc_1.b_0")
    for number in range(12):
        found = gradients({name: model.scope.get(name) for name in NAMES}, number, "float64")
        model.step(number)
        z = z - rate() * found["fc_1.b_0"]
        most = max(most, rate())
        total += most**2
        x = x + most**2 / total * (z - x)
        np.testing.assert_allclose(model.scope.get("fc_1.b_0"), z + 0.9 * (x - z), rtol=1e-6)
        rate.step()


def test_its_average_has_statistics_and_a_model(tmp_path):
    free = ScheduleFree(O.SGD(0.3))
    model = SmallModel(free.minimize)
    for number in range(40):
        model.step(number)
    found = free.statistics(model.scope)
    assert (found.steps, found.updates, found.skipped, found.warming_up) == (40, 40, 0, False)
    np.testing.assert_allclose([found.effective_length, found.mean_age], [40, 19.5], rtol=1e-9)
    free.save(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    program, _, _ = pm.io.load_inference_model(tmp_path / "m", scope=(scope := pm.Scope()))
    assert_same_bits({name: scope.get(name) for name in NAMES}, averages(free, model))
    assert program.provenance["scheme"] == "ScheduleFree()"


def test_a_table_with_sparse_gradients_is_refused():
    for make in (
        lambda: ScheduleFree(O.SGD(0.1)),
        lambda: LossScaling(ScheduleFree(O.SGD(0.1))),
        lambda: GradientMerge(ScheduleFree(O.SGD(0.1)), 2),
        lambda: ScheduleFree(GradientMerge(O.SGD(0.1), 2)),
    ):
        program = None

        def minimize(loss):
            nonlocal program
            program = loss.block.program
            make().minimize(loss)

        with pytest.raises(pm.ProgramError, match="ScheduleFree changes every row of 'table'.*is_sparse=False"):
            Table(minimize)
        assert not any("schedule_free" in name or "average" in name for name in program.global_block().vars)
        assert not {"sgd", "parameter_average", "average_weight", "sum", "check_finite_and_unscale"} & {
            op.type for block in program.blocks for op in block.ops
        }
    Table(ScheduleFree(O.SGD(0.1)).minimize, is_sparse=False).run([1, 2])


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: ScheduleFree(O.SGD), "not its class"),
        (lambda: ScheduleFree(None), "takes an optimizer"),
        (lambda: ScheduleFree(O.SGD(0.1), 1.0), "beta"),
        (lambda: ScheduleFree(O.SGD(0.1), -0.1), "beta"),
        (lambda: ScheduleFree(O.SGD(0.1), float("nan")), "beta"),
        (lambda: ScheduleFree(O.SGD(0.1), "0.9"), "beta"),
        (lambda: ScheduleFree(ScheduleFree(O.SGD(0.1))), "average already"),
        (lambda: ScheduleFree(O.ParameterAverage(O.SGD(0.1), Uniform())), "average already"),
        (lambda: O.ParameterAverage(ScheduleFree(O.SGD(0.1)), Uniform()), "around ScheduleFree"),
    ],
)
def test_wrong_arguments_are_refused(make, words):
    with pytest.raises(pm.ProgramError, match=words):
        make()


@pytest.mark.parametrize(
    "second",
    [lambda first: first, lambda _: ScheduleFree(O.SGD(0.1)), lambda _: O.Adam(0.1)],
    ids=["itself", "another", "an optimizer"],
)
def test_parameters_that_have_it_get_no_second_optimizer(second):
    first = ScheduleFree(O.SGD(0.1))
    gets_no_second_optimizer(first, second(first))


def test_it_serves_one_program():
    once = ScheduleFree(O.SGD(0.1))
    with pytest.raises(pm.ProgramError, match="minimize"):
        once.statistics()
    SmallModel(once.minimize)
    with pytest.raises(pm.ProgramError, match="has its program already; make another one"):
        SmallModel(once.minimize)


def test_a_step_that_is_not_finite_is_an_error():
    free = ScheduleFree(O.SGD(0.1))
    model = SmallModel(free.minimize)
    model.step(0)
    feed = batch(1)
    feed["x"][0, 0] = np.inf
    with pytest.raises(pm.OpError, match="does not enter the average"):
        model.exe.run(model.main, feed, scope=model.scope)
    assert free.statistics(model.scope).steps == 1


def test_the_average_of_a_long_run_is_exact():
    """z rises by a unit in the last place every second step: 12,000 steps, of which a float32 average would lose the
    later ones."""
    main, startup, scope, exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor()
    begin = np.random.RandomState(1).uniform(1, 1.9, 8).astype("float32")
    with pm.program_guard(main, startup):
        p = pm.layers.create_parameter([8], attr=pm.ParamAttr("p", pm.initializer.NumpyArrayInitializer(begin)))
        optimizer = ScheduleFree(O.SGD(1.0))
        optimizer.minimize(pm.layers.reduce_sum(p * pm.layers.data("g", [8])))
    exe.run(startup, scope=scope)
    up, stay, z, total = np.full(8, -(2.0**-23), "float32"), np.zeros(8, "float32"), begin.copy(), np.zeros(8)
    for step in range(12_000):
        exe.run(main, {"g": up if step % 2 else stay}, scope=scope)
        z -= up if step % 2 else stay
        total += z
    with optimizer.apply(exe, scope):
        assert (np.abs(scope.get("p") - total / 12_000) <= 2 * 2.0**-23).all()
