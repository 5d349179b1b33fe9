"""GradientMerge: k runs equal one run of a batch k times as large, and between steps nothing changes."""

import numpy as np
import pytest

import paddle_mini as pm
from optimizers import OPTIMIZERS, SPARSE, Table, assert_close
from pm_run_calls import done, training
from programs import op_types
from small_model import SmallModel, assert_same_bits, batch, data

O = pm.optimizer
GradientMerge, LossScaling = O.GradientMerge, O.LossScaling
K = 3  # the small model's data are three batches


def large_steps(model, steps, dtype="float64"):
    x, label = data(dtype)
    for _ in range(steps):
        model.exe.run(model.main, {"x": x, "label": label}, scope=model.scope)


def test_every_optimizer_is_tried():
    classes = {one.__name__ for one in vars(O).values() if isinstance(one, type) and issubclass(one, O.Optimizer)}
    assert classes - {"Optimizer"} == OPTIMIZERS.keys()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_k_batches_are_one_that_is_k_times_as_large(name):
    merged = SmallModel(GradientMerge(OPTIMIZERS[name](), K).minimize, "float64")
    large = SmallModel(OPTIMIZERS[name]().minimize, "float64")
    names = large.scope.names()
    begin = merged.values()
    for number in range(3 * K):
        merged.step(number)
    large_steps(large, 3)
    assert_close(merged.values(names), large.everything())
    assert any(np.abs(merged.values()[key] - begin[key]).max() > 1e-3 for key in begin)


@pytest.mark.parametrize(
    "arguments",
    [
        {"grad_clip": pm.clip.GradientClipByGlobalNorm(0.05)},
        {"grad_clip": pm.clip.GradientClipByNorm(0.03)},
        {"grad_clip": pm.clip.GradientClipByValue(0.01)},
        {"regularization": 0.1},
        {"regularization": pm.regularizer.L1Decay(0.1), "grad_clip": pm.clip.GradientClipByGlobalNorm(0.05)},
    ],
    ids=["global norm", "norm", "value", "l2", "l1 and global norm"],
)
@pytest.mark.parametrize("attrs", [{}, {"param_attr": pm.ParamAttr(learning_rate=0.5, need_clip=False)}], ids=["", "own rate"])
def test_clipping_and_regularization_see_the_merged_gradient(arguments, attrs):
    merged = SmallModel(GradientMerge(OPTIMIZERS["Momentum"](**arguments), K).minimize, "float64", **attrs)
    large = SmallModel(OPTIMIZERS["Momentum"](**arguments).minimize, "float64", **attrs)
    for number in range(2 * K):
        merged.step(number)
    large_steps(large, 2)
    assert_close(merged.values(), large.values())


def test_without_avg_gradients_add_up():
    summed, mean = (
        SmallModel(GradientMerge(O.SGD(rate), K, avg).minimize, "float64") for rate, avg in ((0.1, False), (0.3, True))
    )
    for number in range(2 * K):
        summed.step(number)
        mean.step(number)
    assert_close(summed.values(), mean.values())


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_between_steps_only_sums_and_count_change(name):
    merge = GradientMerge(OPTIMIZERS[name](), 3)
    model = SmallModel(merge.minimize)
    kept = [key for key in model.scope.names() if "gradient_merge" not in key]
    sums = [key for key in model.scope.names() if "gradient_merge" in key]
    assert len(sums) == len(model.parameters) + 1
    for number in range(6):
        before = model.values(kept)
        (updated,) = model.exe.run(model.main, batch(number), [merge.updated], model.scope)
        assert updated.shape == (1,) and updated.dtype == bool and updated[0] == (number % 3 == 2)
        assert all(model.scope.get(key).any() != updated[0] for key in sums)
        if not updated[0]:
            assert_same_bits(model.values(kept), before)
        else:
            assert all((model.scope.get(key) != before[key]).any() for key in model.parameters)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_merge_of_one_is_the_optimizer(name):
    merge = GradientMerge(OPTIMIZERS[name](), 1)
    merged, plain = SmallModel(merge.minimize), SmallModel(OPTIMIZERS[name]().minimize)
    for number in range(4):
        plain.step(number)
        assert merged.exe.run(merged.main, batch(number), [merge.updated], merged.scope)[0].tolist() == [True]
    assert_same_bits(merged.everything(), plain.everything())


def test_a_scheduler_steps_when_it_is_told():
    rates = [pm.lr.NoamDecay(4, 3) for _ in range(2)]
    merged = SmallModel(GradientMerge(O.SGD(rates[0]), K).minimize, "float64")
    large = SmallModel(O.SGD(rates[1]).minimize, "float64")
    for _ in range(3):
        for number in range(K):
            merged.step(number)
        large_steps(large, 1)
        for rate in rates:
            rate.step()
    assert_close(merged.values(), large.values())


def test_a_schedule_in_the_program_counts_runs():
    rate = None

    def minimize(loss):
        nonlocal rate
        rate = pm.layers.exponential_decay(0.1, 1, 0.5)
        GradientMerge(O.SGD(rate), K).minimize(loss)

    model = SmallModel(minimize)
    found = [model.exe.run(model.main, batch(number), [rate], model.scope)[0].item() for number in range(2 * K)]
    np.testing.assert_allclose(found, [0.1 * 0.5**t for t in range(2 * K)], rtol=1e-6)


@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adagrad", "Adam", "RMSProp", "Lamb"])
@pytest.mark.parametrize("clip", [None, pm.clip.GradientClipByGlobalNorm(0.01)], ids=["", "clipped"])
def test_sparse_gradients_are_merged_dense(name, clip):
    merged = Table(GradientMerge(OPTIMIZERS[name](grad_clip=clip), 2).minimize)
    large = Table(OPTIMIZERS[name](grad_clip=clip).minimize)
    assert_close(merged.run(*SPARSE), large.run(SPARSE[0] + SPARSE[1], SPARSE[2] + SPARSE[3]))


def test_batches_of_other_sizes():
    merged, dense = (Table(GradientMerge(O.Adam(0.1), 2).minimize, is_sparse) for is_sparse in (True, False))
    feeds = [[1], [2, 3, 3], [0, 1, 2, 3, 4, 5, 6, 1], [4, 4], [6], [6]]
    assert_close(merged.run(*feeds), dense.run(*feeds))


@pytest.mark.parametrize(
    "optimizer",
    [lambda: O.Adam(0.1, lazy_mode=True), lambda: O.Ftrl(0.1), lambda: O.Adagrad(0.1, epsilon=0.0)],
    ids=["lazy adam", "ftrl", "adagrad"],
)
@pytest.mark.parametrize("wrap", [lambda o: GradientMerge(o, 2), lambda o: LossScaling(GradientMerge(o, 2))], ids=["", "scaled"])
def test_optimizers_that_need_the_rows_are_refused(optimizer, wrap):
    def minimize(loss):
        wrapper = wrap(optimizer())
        pairs = wrapper.backward(loss)
        before = loss.block.program.to_bytes()
        with pytest.raises(pm.ProgramError, match="sparse gradients of 'table' up to a dense one"):
            wrapper.apply_gradients(pairs)
        assert loss.block.program.to_bytes() == before

    Table(minimize)
    Table(wrap(optimizer()).minimize, is_sparse=False).run(*SPARSE)
    Table(GradientMerge(optimizer(), 1).minimize).run(*SPARSE)


def test_merges_nest():
    twice = GradientMerge(GradientMerge(O.Adam(0.05), 2), 3)
    nested, flat = SmallModel(twice.minimize, "float64"), SmallModel(GradientMerge(O.Adam(0.05), 6).minimize, "float64")
    flags = []
    for number in range(12):
        flat.step(number)
        flags.append(
            [
                bool(flag)
                for flag in nested.exe.run(
                    nested.main, batch(number, "float64"), [twice.updated, twice.optimizer.updated], nested.scope
                )
            ]
        )
    assert flags == [[number % 6 == 5] * 2 for number in range(12)]
    assert_close(nested.values(), flat.values(), 1e-12)


def test_stopping_in_the_middle_of_a_merge(tmp_path):
    def trained(steps):
        model = SmallModel(GradientMerge(O.Adam(0.05), 3).minimize)
        for number in range(steps):
            model.step(number)
        return model

    whole, stopped = trained(9), trained(4)
    pm.io.save_program(tmp_path / "half", stopped.main, stopped.scope)
    stopped.scope = pm.Scope()
    stopped.main = pm.io.load_program(tmp_path / "half", stopped.scope)
    for number in range(4, 9):
        stopped.step(number)
    assert_same_bits(stopped.values(whole.scope.names()), whole.everything())


@pytest.mark.parametrize(
    "wrap",
    [
        lambda: GradientMerge(O.Adam(0.05), 2),
        lambda: LossScaling(GradientMerge(O.Adam(0.05), 2)),
        lambda: GradientMerge(LossScaling(O.Adam(0.05)), 2),
    ],
    ids=["merge", "scaled merge", "merge of scaled"],
)
def test_bytes_and_pm_run_take_the_same_steps(tmp_path, wrap):
    model, again = (SmallModel(wrap().minimize) for _ in range(2))
    pm.io.save_program(tmp_path / "train", model.main, model.scope)
    for name, array in zip(("x", "label"), data()):
        np.save(tmp_path / f"{name}.npy", array)
    again.main = pm.Program.from_bytes(model.main.to_bytes())
    for number in range(6):
        assert model.step(number).tobytes() == again.step(number).tobytes()
    assert_same_bits(again.everything(), model.everything())
    done(*training(tmp_path), "--steps", 6, "--batch", 8, "--save-params", tmp_path / "after.pdiparams")
    scope = pm.Scope()
    pm.io.load_parameters(tmp_path / "after.pdiparams", model.main, scope)
    assert_same_bits({name: scope.get(name) for name in model.scope.names()}, model.everything())


def test_a_clone_for_tests_has_none_of_it(tmp_path):
    momentum = O.Momentum(0.1, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0), regularization=0.1)
    merge = GradientMerge(LossScaling(momentum), 2)
    model, plain = SmallModel(merge.minimize), SmallModel()
    test = model.main.clone(for_test=True)
    assert len(test.blocks) == 1 and op_types(test) == op_types(plain.main)
    assert {var.name for var in test.list_vars()} == {var.name for var in plain.main.list_vars()}
    pm.io.save_inference_model(tmp_path / "infer", [model.x], [model.logits], model.exe, scope=model.scope)
    program, _, _ = pm.io.load_inference_model(tmp_path / "infer", model.exe, scope=pm.Scope())
    assert len(program.blocks) == 1
    assert not [var.name for var in program.list_vars() if "merge" in var.name or "scal" in var.name]


def test_two_optimizers_in_one_program():
    """As in the two halves of an adversarial network."""
    first, second = pm.layers.create_parameter([3], name="a"), pm.layers.create_parameter([3], name="b")
    loss = pm.layers.mean(first * second)
    for parameter, k in ((first, 2), (second, 3)):
        GradientMerge(LossScaling(O.SGD(0.1, parameter_list=[parameter])), k).minimize(loss)
    with pytest.raises(pm.ProgramError, match="'a' is changed by an operator sgd already"):
        GradientMerge(O.SGD(0.1, parameter_list=[first]), 2).minimize(loss)
    exe, scope = pm.Executor(), pm.global_scope()
    exe.run(pm.default_startup_program())
    moved = []
    for _ in range(6):
        before = [scope.get(name) for name in "ab"]
        exe.run()
        moved.append("".join(name for name, value in zip("ab", before) if (scope.get(name) != value).any()))
    assert moved == ["", "a", "b", "a", "", "ab"]


@pytest.mark.parametrize(
    "wrap",
    [lambda average, o: GradientMerge(average(o), 2), lambda average, o: average(GradientMerge(o, 2))],
    ids=["merge of averaged", "average of merged"],
)
def test_averages_count_steps_not_runs(wrap):
    made = []

    def average(optimizer):
        made.append(O.ParameterAverage(optimizer, window_size=3))
        return made[-1]

    merged = SmallModel(wrap(average, O.Adam(0.05)).minimize, "float64")
    large = SmallModel(average(O.Adam(0.05)).minimize, "float64")
    for number in range(8):
        merged.step(number)
        if number % 2:
            pair = [batch(number - 1, "float64"), batch(number, "float64")]
            feed = {name: np.concatenate([one[name] for one in pair]) for name in pair[0]}
            large.exe.run(large.main, feed, scope=large.scope)
    with made[0].apply(merged.exe, merged.scope), made[1].apply(large.exe, large.scope):
        assert_close(merged.values(), large.values(), 1e-12)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda sgd: GradientMerge(sgd, 0), "k_steps is 0, it must be an integer, at least 1"),
        (lambda sgd: GradientMerge(sgd, 2.0), "k_steps is 2.0"),
        (lambda sgd: GradientMerge(sgd, True), "k_steps is True"),
        (lambda sgd: GradientMerge(sgd, None), "k_steps is None"),
        (lambda sgd: GradientMerge(sgd, 2, "sum"), "avg is 'sum', it must be True or False"),
        (lambda sgd: GradientMerge(type(sgd), 2), "not its class: SGD"),
        (lambda sgd: GradientMerge("sgd", 2), "GradientMerge takes an optimizer, not str"),
        (lambda sgd: GradientMerge(None, 2), "not NoneType"),
    ],
)
def test_wrong_arguments_are_refused(make, words):
    with pytest.raises(pm.ProgramError, match=words):
        make(O.SGD(0.1))


def test_wrong_use_is_refused():
    w, other = (pm.layers.create_parameter([3], name=name) for name in ("w", "other"))
    merge = GradientMerge(O.SGD(0.1), 2)
    with pytest.raises(pm.ProgramError, match=r"loss 'w' has shape \[3\], not one element: take its mean"):
        merge.minimize(w)
    merge.minimize(pm.layers.mean(w))
    more = merge.backward(pm.layers.mean(other))
    with pytest.raises(pm.ProgramError, match="this GradientMerge has its operators in the program already"):
        merge.apply_gradients(more)
