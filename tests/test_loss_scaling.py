"""LossScaling: the optimizer's bits if gradients are finite, no update if they are not, PaddlePaddle's scale."""

import numpy as np
import pytest

import paddle_mini as pm
from optimizers import OPTIMIZERS, SPARSE, Table
from small_model import SmallModel, assert_same_bits, batch

O = pm.optimizer
GradientMerge, LossScaling = O.GradientMerge, O.LossScaling
SCALING = ("loss_scaling_0", "num_good_steps_0", "num_bad_steps_0")


def poisoned(number, dtype="float32", value=np.inf):
    feed = batch(number, dtype)
    feed["x"][2, 1] = value
    return feed


def step(model, number, poison=False, fetches=(), dtype="float32"):
    return model.exe.run(model.main, (poisoned if poison else batch)(number, dtype), list(fetches), model.scope)


def simulated(flags, scale, good_needed, bad_needed, growth, fall):
    """The scale and the numbers of consecutive good and bad runs after each run, by PaddlePaddle's rule, in float32."""
    scale, good, bad, rows = np.float32(scale), 0, 0, []
    for infinite in flags:
        if infinite:
            good, bad = 0, bad + 1
            if bad == bad_needed:
                scale, bad = max(scale * np.float32(fall), np.float32(1)), 0
        else:
            good, bad = good + 1, 0
            if good == good_needed:
                with np.errstate(over="ignore"):
                    grown = scale * np.float32(growth)
                scale, good = grown if np.isfinite(grown) else scale, 0
        rows.append((scale, good, bad))
    return rows


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_power_of_two_gives_the_optimizers_bits(name, dtype):
    scaling = LossScaling(OPTIMIZERS[name](), incr_every_n_steps=2)
    scaled, plain = SmallModel(scaling.minimize, dtype), SmallModel(OPTIMIZERS[name]().minimize, dtype)
    names = plain.scope.names()
    for number in range(5):
        loss, updated = step(scaled, number, fetches=[scaled.loss, scaling.updated], dtype=dtype)
        assert loss.tobytes() == plain.step(number).tobytes()  # not scaled
        assert updated.tolist() == [True]
    assert_same_bits(scaled.values(names), plain.everything())
    assert scaled.scope.get("loss_scaling_0") == 2**17


@pytest.mark.parametrize(
    "arguments",
    [
        {"grad_clip": pm.clip.GradientClipByGlobalNorm(0.05)},
        {"grad_clip": pm.clip.GradientClipByNorm(0.03)},
        {"grad_clip": pm.clip.GradientClipByValue(0.01)},
        {"regularization": 0.1},
    ],
    ids=["global norm", "norm", "value", "l2"],
)
def test_clipping_and_regularization_see_the_divided_gradient(arguments):
    attrs = {"param_attr": pm.ParamAttr(learning_rate=0.5)}
    scaled = SmallModel(LossScaling(OPTIMIZERS["Momentum"](**arguments)).minimize, **attrs)
    plain = SmallModel(OPTIMIZERS["Momentum"](**arguments).minimize, **attrs)
    for number in range(4):
        scaled.step(number)
        plain.step(number)
    assert_same_bits(scaled.values(), plain.values())


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_an_overflow_leaves_everything_as_it_was(name, value):
    scaling = LossScaling(
        OPTIMIZERS[name](grad_clip=pm.clip.GradientClipByGlobalNorm(1.0), regularization=0.01), decr_every_n_nan_or_inf=1
    )
    model = SmallModel(scaling.minimize)
    step(model, 0)
    before = model.everything()
    (updated,) = model.exe.run(model.main, poisoned(1, value=value), [scaling.updated], model.scope)
    assert updated.shape == (1,) and not updated[0]
    changed = [key for key, was in before.items() if model.scope.get(key).tobytes() != was.tobytes()]
    assert sorted(changed) == ["loss_scaling_0", "num_good_steps_0"]
    before = model.values()
    step(model, 2)
    assert all((model.scope.get(key) != was).any() for key, was in before.items())


@pytest.mark.parametrize(
    "settings", [(2.0**15, 5, 2, 2.0, 0.8), (3.0, 3, 1, 1.5, 0.3), (2.0**125, 4, 3, 4.0, 0.5), (1.0, 50, 1, 2.0, 0.5)], ids=str
)
def test_the_scale_follows_paddlepaddles_rule(settings):
    begin, good, bad, growth, fall = settings
    scaling = LossScaling(O.SGD(0.01), begin, good, bad, growth, fall)
    model = SmallModel(scaling.minimize)
    flags = (np.random.RandomState(2).rand(50) < 0.3).tolist()
    # This model's gradients are below 1: scales near the largest float32 do not make them overflow.
    expected = simulated(flags, *settings)
    for number, (infinite, wanted) in enumerate(zip(flags, expected)):
        (updated,) = step(model, number, infinite, [scaling.updated])
        assert updated[0] != infinite
        assert tuple(model.scope.get(key).item() for key in SCALING) == tuple(map(float, wanted)), number
    assert len({scale for scale, _, _ in expected}) > 1 or begin == 1.0  # which never falls


def test_a_scale_that_is_too_large_falls_until_it_fits():
    scaling = LossScaling(O.SGD(0.1), 3e38, decr_every_n_nan_or_inf=1, decr_ratio=0.5)

    def minimize(loss):
        scaling.minimize(pm.layers.scale(loss, scale=1000.0))

    model = SmallModel(minimize)
    flags = [bool(step(model, number, fetches=[scaling.updated])[0]) for number in range(30)]
    assert not any(flags[:3]) and flags.count(True) > 10
    assert model.scope.get("loss_scaling_0") == np.float32(3e38) * np.float32(0.5) ** flags.count(False)


def test_a_scale_that_does_not_adapt():
    scaling = LossScaling(OPTIMIZERS["Adam"](), 1024.0, use_dynamic_loss_scaling=False)
    model, plain = SmallModel(scaling.minimize), SmallModel(OPTIMIZERS["Adam"]().minimize)
    assert sorted(set(model.scope.names()) - set(plain.scope.names())) == ["loss_scaling_0"]
    for number, infinite in enumerate([False, True, True, True, False]):
        before = model.everything()
        step(model, number, infinite)
        if infinite:
            assert_same_bits(model.everything(), before)
        else:
            plain.step(number)
    assert_same_bits(model.values(plain.scope.names()), plain.everything())


def test_a_schedule_and_a_rate_that_the_program_computes():
    def minimize(wrap):
        return lambda loss: wrap(O.SGD(pm.layers.exponential_decay(0.1, 1, 0.5))).minimize(loss)

    scaled, plain = SmallModel(minimize(LossScaling)), SmallModel(minimize(lambda o: o))
    for number in range(3):
        scaled.step(number)
        plain.step(number)
    assert_same_bits(scaled.values(), plain.values())


@pytest.mark.parametrize(
    "optimizer",
    [lambda: O.SGD(0.1), lambda: O.Adam(0.1, lazy_mode=True), lambda: O.Ftrl(0.1), lambda: O.Momentum(0.1)],
    ids=["sgd", "lazy adam", "ftrl", "momentum"],
)
def test_sparse_gradients_stay_sparse(optimizer):
    scaled, plain = Table(LossScaling(optimizer()).minimize), Table(optimizer().minimize)
    feeds = [*SPARSE, [1], [2, 2, 2, 5, 6]]
    assert_same_bits(scaled.run(*feeds), plain.run(*feeds))


def test_an_overflow_in_one_row_is_found():
    scaling = LossScaling(O.Adam(0.1, lazy_mode=True), decr_every_n_nan_or_inf=1)
    model = Table(scaling.minimize)
    table = model.scope.get("table")
    table[4] = np.inf
    model.scope.set("table", table)
    model.run([1, 2])
    before = {name: model.scope.get(name) for name in model.scope.names()}
    (updated,) = model.exe.run(model.main, {"ids": np.array([1, 4])}, [scaling.updated], model.scope)
    assert not updated[0]
    changed = [name for name, was in before.items() if model.scope.get(name).tobytes() != was.tobytes()]
    assert sorted(changed) == ["loss_scaling_0", "num_good_steps_0"]


def test_rows_whose_sum_overflows_are_found():
    """The same as for an equal dense gradient."""
    for is_sparse in (True, False):
        with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
            ids = pm.layers.data("ids", [-1], dtype="int64")
            rows = pm.layers.embedding(ids, [3, 2], is_sparse=is_sparse, param_attr="table")
            scaling = LossScaling(O.SGD(1e-38), 2e38)
            scaling.minimize(pm.layers.reduce_sum(rows))
            exe = pm.Executor()
            exe.run(pm.default_startup_program())
            for feed, wanted in (([0, 1], True), ([1, 1], False)):
                assert exe.run(feed={"ids": np.array(feed)}, fetch_list=[scaling.updated])[0] == wanted


def test_a_scaled_merge_leaves_infinite_batches_out():
    """The merge counts batches whose gradients are finite."""
    scaling = LossScaling(GradientMerge(O.Momentum(0.1), 2))
    model, plain = SmallModel(scaling.minimize), SmallModel(GradientMerge(O.Momentum(0.1), 2).minimize)
    flags = [step(model, number, number in (1, 4), [scaling.updated, scaling.optimizer.updated]) for number in range(6)]
    wanted = (False, False, True, False, False, True)
    assert [[bool(flag) for flag in pair] for pair in flags] == [[flag] * 2 for flag in wanted]
    for number in (0, 2, 3, 5):
        plain.step(number)
    assert_same_bits(model.values(plain.scope.names()), plain.everything())


def test_a_merge_of_scaled_gradients_leaves_out_the_whole_merge():
    """The scale adapts once per merge, so that all added gradients have one scale."""
    merge = GradientMerge(LossScaling(O.Momentum(0.1), incr_every_n_steps=1), 2)
    model, plain = SmallModel(merge.minimize), SmallModel(GradientMerge(O.Momentum(0.1), 2).minimize)
    flags, scales = [], []
    for number in range(6):
        pair = step(model, number, number == 2, [merge.updated, merge.optimizer.updated])
        flags.append([bool(flag) for flag in pair])
        scales.append(int(model.scope.get("loss_scaling_0")))
    assert flags == [[wanted] * 2 for wanted in (False, True, False, False, False, True)]
    assert scales == [2**15, 2**16, 2**16, 2**16, 2**16, 2**17]
    for number in (0, 1, 4, 5):
        plain.step(number)
    assert_same_bits(model.values(plain.scope.names()), plain.everything())


def test_scalings_nest():
    scaling = LossScaling(LossScaling(O.Adam(0.05), 2.0**4), 2.0**6)
    model, plain = SmallModel(scaling.minimize), SmallModel(O.Adam(0.05).minimize)
    for number, infinite in enumerate([False, True, False]):
        updated = step(model, number, infinite, [scaling.updated, scaling.optimizer.updated])
        assert [bool(flag) for flag in updated] == [not infinite] * 2
        if not infinite:
            plain.step(number)
    assert_same_bits(model.values(plain.scope.names()), plain.everything())


def test_stopping_and_going_on(tmp_path):
    def trained(steps):
        model = SmallModel(LossScaling(O.Adam(0.05), incr_every_n_steps=3).minimize)
        for number in range(steps):
            step(model, number, number == 1)
        return model

    whole, stopped = trained(8), trained(4)
    pm.io.save_program(tmp_path / "half", stopped.main, stopped.scope)
    stopped.scope = pm.Scope()
    stopped.main = pm.io.load_program(tmp_path / "half", stopped.scope)
    for number in range(4, 8):
        step(stopped, number)
    assert_same_bits(stopped.values(whole.scope.names()), whole.everything())


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"init_loss_scaling": 0}, "init_loss_scaling is 0, it must be a finite number, above 0"),
        ({"init_loss_scaling": float("inf")}, "init_loss_scaling is inf"),
        ({"init_loss_scaling": "auto"}, "is 'auto'"),
        ({"init_loss_scaling": 1e39}, "init_loss_scaling is 1e[+]39, it must be a float32 above 0"),
        ({"init_loss_scaling": 1e-50}, "init_loss_scaling is 1e-50, it must be a float32 above 0"),
        ({"incr_every_n_steps": 0}, "incr_every_n_steps is 0, it must be an integer, at least 1"),
        ({"decr_every_n_nan_or_inf": 1.5}, "decr_every_n_nan_or_inf is 1.5"),
        ({"incr_ratio": 1.0}, "incr_ratio is 1.0, it must be a finite number, above 1"),
        ({"decr_ratio": 1.0}, "decr_ratio is 1.0, it must be below 1"),
        ({"decr_ratio": 0.0}, "decr_ratio is 0.0"),
        ({"use_dynamic_loss_scaling": 1}, "use_dynamic_loss_scaling is 1, it must be True or False"),
        ({"optimizer": O.SGD}, "not its class: SGD"),
        ({"optimizer": 3}, "LossScaling takes an optimizer, not int"),
    ],
)
def test_wrong_arguments_are_refused(arguments, words):
    with pytest.raises(pm.ProgramError, match=words):
        LossScaling(**{"optimizer": O.SGD(0.1), **arguments})


def test_wrong_use_is_refused():
    w, v = pm.layers.create_parameter([3], name="w"), pm.layers.create_parameter([3], dtype="float64", name="v")
    pairs = O.SGD(0.1).backward(pm.layers.mean(w))
    loss = pm.layers.mean(w)
    before = [program.to_bytes() for program in (pm.default_main_program(), pm.default_startup_program())]
    with pytest.raises(pm.ProgramError, match="the gradients are not scaled: call its own backward"):
        LossScaling(O.SGD(0.1)).apply_gradients(pairs)
    with pytest.raises(pm.ProgramError, match="'none' is not a parameter of the program"):
        LossScaling(O.SGD(0.1)).minimize(loss, parameter_list=["none"])
    with pytest.raises(pm.ProgramError, match="a Variable, not 'w'"):
        LossScaling(O.SGD(0.1)).minimize("w")
    assert [program.to_bytes() for program in (pm.default_main_program(), pm.default_startup_program())] == before
    mixed = pm.layers.mean(pm.layers.cast(w, "float64") * v)
    with pytest.raises(pm.ProgramError, match="the gradient of 'w' is float32, the loss is float64"):
        LossScaling(O.SGD(0.1)).minimize(mixed)
