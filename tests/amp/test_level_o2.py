"""Mixed precision of level O2: parameters of 16 bits, which are rounded masters of float32."""

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import bits_of, numbers_of
from paddle_mini import layers

RANDOM = np.random.default_rng(7)
FEED = {"x": RANDOM.standard_normal((16, 6)).astype("float32"), "label": RANDOM.integers(0, 3, (16, 1))}
FLOAT16 = {"dtype": "float16", "init_loss_scaling": 1024.0}
MASTER = "weight_fp32_master_0"


def network():
    x, label = layers.data("x", [-1, 6]), layers.data("label", [-1, 1], "int64")
    hidden = layers.batch_norm(layers.fc(x, 8, act="relu", param_attr="weight", bias_attr="bias"))
    return layers.mean(layers.softmax_with_cross_entropy(layers.fc(hidden, 3), label))


def started(optimizer):
    """The loss of a network, its program for testing, and an executor after the startup program."""
    loss = network()
    optimizer.minimize(loss)
    test = pm.default_main_program().clone(for_test=True)
    exe = pm.Executor()
    pm.seed(5)
    exe.run(pm.default_startup_program())
    return loss, test, exe


def losses(optimizer, steps=12):
    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        loss, _, exe = started(optimizer)
        return [float(exe.run(feed=FEED, fetch_list=[loss])[0]) for _ in range(steps)]


@pytest.mark.parametrize("dtype", [{"dtype": "bfloat16"}, FLOAT16], ids=["bfloat16", "float16"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: pm.optimizer.SGD(0.2, regularization=1e-3),
        lambda: pm.optimizer.Adam(0.02, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0)),
        lambda: pm.optimizer.Lamb(0.05),
        lambda: pm.optimizer.RMSProp(0.01),
        lambda: pm.optimizer.Ftrl(0.1),
        lambda: pm.optimizer.GradientMerge(pm.optimizer.Momentum(0.05, 0.9), 2),
    ],
    ids=["sgd", "adam", "lamb", "rmsprop", "ftrl", "gradient merge"],
)
def test_training_follows_float32(make, dtype):
    wide, narrow = losses(make()), losses(pm.amp.decorate(make(), level="O2", **dtype))
    assert narrow != wide
    assert narrow == pytest.approx(wide, abs=0.06)


def test_types_of_parameters():
    pm.amp.decorate(pm.optimizer.Adam(0.02), level="O2").minimize(network())
    block = pm.default_main_program().global_block()
    dtypes = {parameter.name: parameter.dtype for parameter in pm.default_main_program().all_parameters()}
    assert dtypes["weight"] == dtypes["bias"] == "bfloat16"
    assert dtypes[MASTER] == dtypes["batch_norm_0.w_0"] == "float32"  # factors of a normalization stay float32
    (op,) = (op for op in block.ops if op.input("Param") == [MASTER])
    assert {block.var(name).dtype for name in op.input_names} == {"float32"}
    assert not any(op.type == "cast" and op.input("X") == ["weight"] for op in block.ops)


def test_small_steps_are_not_lost():
    """One step is far below half a last digit of bfloat16."""
    optimizer = pm.amp.decorate(pm.optimizer.SGD(1e-4), level="O2")
    loss, _, exe = started(optimizer)
    begin = pm.global_scope().get(MASTER)
    for _ in range(20):
        exe.run(feed=FEED, fetch_list=[loss])
    end, weight = pm.global_scope().get(MASTER), pm.global_scope().get("weight")
    assert 0 < np.abs(end - begin).max() < 2e-3
    np.testing.assert_array_equal(weight, bits_of(end))


def test_a_step_that_overflows_changes_nothing():
    optimizer = pm.amp.decorate(pm.optimizer.Adam(0.02), level="O2", dtype="float16", init_loss_scaling=2.0**40)
    loss, _, exe = started(optimizer)
    before = {name: pm.global_scope().get(name) for name in ("weight", MASTER)}
    assert np.isfinite(exe.run(feed=FEED, fetch_list=[loss])[0])
    for name, value in before.items():
        np.testing.assert_array_equal(pm.global_scope().get(name), value)


def test_averages_are_of_the_masters():
    average = pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.02), pm.averaging.Uniform())
    loss, test, exe = started(pm.amp.decorate(average, level="O2"))
    masters = []
    for _ in range(5):
        exe.run(feed=FEED, fetch_list=[loss])
        masters.append(pm.global_scope().get(MASTER))
    raw = exe.run(test, feed=FEED, fetch_list=[loss.name])[0]
    with average.apply(exe):
        np.testing.assert_allclose(numbers_of(pm.global_scope().get("weight")), np.mean(masters, axis=0), rtol=2**-8)
        assert exe.run(test, feed=FEED, fetch_list=[loss.name])[0] != raw
    np.testing.assert_array_equal(pm.global_scope().get("weight"), bits_of(masters[-1]))


def test_lists_keep_parameters_in_float32():
    lists = pm.amp.AutoMixedPrecisionLists(custom_black_varnames={"weight"})
    pm.amp.decorate(pm.optimizer.Adam(0.02), lists, level="O2").minimize(network())
    block = pm.default_main_program().global_block()
    assert block.var("weight").dtype == "float32" and not block.has_var(MASTER)


def test_wrong_input_changes_nothing():
    for wrapper in (lambda o: pm.optimizer.Lookahead(o), lambda o: pm.optimizer.ScheduleFree(o)):
        with pytest.raises(pm.ProgramError, match="take level O1"):
            pm.amp.decorate(wrapper(pm.optimizer.SGD(0.1)), level="O2")
    loss = network()
    before = str(pm.default_main_program())
    with pytest.raises(pm.ProgramError, match=r"'(weight|bias)'.*startup program"):
        pm.amp.decorate(pm.optimizer.SGD(0.1), level="O2").minimize(loss, startup_program=pm.Program())
    assert str(pm.default_main_program()) == before
    pm.optimizer.SGD(0.1).minimize(loss)
    with pytest.raises(pm.ProgramError, match="without gradients"):
        pm.amp.decorate(pm.optimizer.SGD(0.1), level="O2").minimize(loss)
    assert pm.default_main_program().global_block().var("weight").dtype == "float32"


@pytest.mark.parametrize("parameters", [None, ["weight"], [MASTER]])
@pytest.mark.parametrize("is_inside", [True, False])
def test_averages_are_of_the_masters_wherever_they_are(parameters, is_inside):
    """Inside of the decorated optimizer and around it, as fit(averaging=...) puts them."""

    def averaged(optimizer):
        return pm.optimizer.ParameterAverage(optimizer, pm.averaging.Uniform(), parameters=parameters)

    if is_inside:
        average = averaged(pm.optimizer.Adam(0.02))
        loss, _, exe = started(pm.amp.decorate(average, level="O2"))
    else:
        average = averaged(pm.amp.decorate(pm.optimizer.Adam(0.02), level="O2"))
        loss, _, exe = started(average)
    masters = []
    for _ in range(5):
        exe.run(feed=FEED, fetch_list=[loss])
        masters.append(pm.global_scope().get(MASTER))
    assert 0 < average.statistics().distance < 0.2
    with average.apply(exe):
        found = pm.global_scope().get("weight")
    near = numbers_of(bits_of(np.mean(masters, axis=0, dtype="float64").astype("float32")))
    np.testing.assert_allclose(numbers_of(found), near, rtol=2**-7)
    assert np.mean(numbers_of(found) == near) > 0.95
    np.testing.assert_array_equal(pm.global_scope().get("weight"), bits_of(masters[-1]))


def test_wrappers_that_would_work_on_16_bits_are_refused():
    decorated = pm.amp.decorate(pm.optimizer.SGD(0.1), level="O2")
    for make, words in (
        (lambda: pm.optimizer.Lookahead(decorated), "Lookahead writes averages to parameters.*take level O1"),
        (lambda: pm.optimizer.ScheduleFree(decorated), "ScheduleFree writes averages to parameters.*take level O1"),
        (lambda: pm.optimizer.GradientMerge(decorated, 2), "gradients of 16 bits: give the GradientMerge to decorate"),
    ):
        with pytest.raises(pm.ProgramError, match=words):
            make()


@pytest.mark.parametrize("is_inside", [True, False])
def test_averages_that_keep_parameters_are_refused(is_inside):
    loss, before = network(), str(pm.default_main_program())
    optimizer = pm.optimizer.SGD(0.1)
    if is_inside:
        optimizer = pm.amp.decorate(pm.optimizer.ParameterAverage(optimizer, pm.averaging.Latest(3)), level="O2")
    else:
        optimizer = pm.optimizer.ParameterAverage(pm.amp.decorate(optimizer, level="O2"), pm.averaging.Latest(3))
    with pytest.raises(pm.ProgramError, match=r"Latest\(3\): '.*' is bfloat16, which only Uniform\(\)"):
        optimizer.minimize(loss)
    assert str(pm.default_main_program()) == before


@pytest.mark.parametrize("averaging", [None, pm.averaging.Uniform()])
def test_fit_validates_with_parameters_of_16_bits(averaging):
    loss = network()
    trainer = pm.Trainer(loss, pm.amp.decorate(pm.optimizer.Adam(0.02), level="O2"), averaging=averaging)
    row = trainer.fit(FEED, epochs=2, batch_size=16, validation=FEED, progress=False).last
    assert row["val_loss"] == pytest.approx(row["loss"], abs=0.3)
    assert ("averaged_val_loss" in row) == (averaging is not None)
