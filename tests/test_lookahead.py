"""Lookahead against its formulas, around and inside other wrappers, and rejected combinations."""

import numpy as np
import pytest

import paddle_mini as pm
from optimizers import OPTIMIZERS, Table, gets_no_second_optimizer, goes_on_from_a_checkpoint
from paddle_mini.averaging import Uniform
from small_model import SmallModel, assert_same_bits, batch
from small_model_steps import Descent, adam, assert_model_has, gradients, merged, momentum, of, sgd
from thorough import some

O = pm.optimizer
Lookahead, GradientMerge, LossScaling = O.Lookahead, O.GradientMerge, O.LossScaling


class Slow:
    """Lookahead by its definition."""

    def __init__(self, values, descent, k, alpha):
        self.values = self.slow = values
        self.descent, self.k, self.alpha = descent, k, alpha

    def step(self, found):
        self.values = self.descent.step(self.values, found)
        if self.descent.t % self.k == 0:
            self.slow = {name: slow + self.alpha * (self.values[name] - slow) for name, slow in self.slow.items()}
            self.values = self.slow


CASES = {
    "sgd": (lambda: O.SGD(0.3), lambda: Descent(sgd(0.3)), 5, 0.5),
    "momentum": (lambda: O.Momentum(0.1, 0.9), lambda: Descent(momentum(0.1, 0.9)), 3, 0.8),
    "adam": (lambda: O.Adam(0.01), lambda: Descent(adam(0.01, 0.9, 0.999)), 7, 0.2),
    "every step": (lambda: O.SGD(0.3), lambda: Descent(sgd(0.3)), 1, 0.4),
    "regularized and clipped": (
        lambda: O.SGD(0.3, regularization=0.05, grad_clip=pm.clip.GradientClipByGlobalNorm(0.2)),
        lambda: Descent(sgd(0.3), 0.05, 0.2),
        4,
        0.5,
    ),
}


@pytest.mark.parametrize("dtype", some(["float32", "float64"], 2))
@pytest.mark.parametrize("case", CASES)
def test_every_step_is_that_of_the_formulas(case, dtype):
    optimizer, descent, k, alpha = CASES[case]
    model, values = of(Lookahead(optimizer(), k, alpha).minimize, dtype)
    expected = Slow(values, descent(), k, alpha)
    for number in range(300):
        expected.step(gradients(expected.values, number, dtype))
        model.step(number)
        assert_model_has(model, expected.values, dtype)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Lookahead(GradientMerge(O.Momentum(0.1, 0.9), 3), 2, 0.5),
        lambda: GradientMerge(Lookahead(O.Momentum(0.1, 0.9), 2, 0.5), 3),
    ],
    ids=["around", "inside"],
)
def test_merged_gradients_are_one_step(make):
    model, values = of(make().minimize, "float64")
    expected = Slow(values, Descent(momentum(0.1, 0.9)), 2, 0.5)
    for step in range(100):
        expected.step(merged(expected.values, range(3 * step, 3 * step + 3), "float64"))
        for number in range(3 * step, 3 * step + 3):
            model.step(number)
        assert_model_has(model, expected.values, "float64")


@pytest.mark.parametrize(
    "make",
    [lambda: Lookahead(LossScaling(O.SGD(0.3), 8.0), 3, 0.5), lambda: LossScaling(Lookahead(O.SGD(0.3), 3, 0.5), 8.0)],
    ids=["around", "inside"],
)
def test_a_step_that_overflows_counts_nothing(make):
    model, values = of(make().minimize, "float64")
    expected = Slow(values, Descent(sgd(0.3)), 3, 0.5)
    kept = [name for name in model.scope.names() if "fc_" in name or "learning_rate" in name]
    for number in range(120):
        if number % 4 == 1:
            before = model.values(kept)
            feed = batch(number, "float64")
            feed["x"][0, 0] = np.inf
            model.exe.run(model.main, feed, scope=model.scope)
            assert_same_bits(model.values(kept), before)
        expected.step(gradients(expected.values, number, "float64"))
        model.step(number)
        assert_model_has(model, expected.values, "float64")


@pytest.mark.parametrize("name", ["SGD", "Adam", "Momentum"])
def test_alpha_of_one_is_the_optimizer(name):
    looking, plain = SmallModel(Lookahead(OPTIMIZERS[name](), 3, 1.0).minimize), SmallModel(OPTIMIZERS[name]().minimize)
    for number in range(20):
        looking.step(number)
        plain.step(number)
    assert_same_bits(looking.values(plain.scope.names()), plain.everything())


@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: GradientMerge(one, 2)], ids=["alone", "merged"])
def test_slow_begins_as_parameters_that_were_loaded_after_the_startup_program(wrap):
    model, values = of(wrap(Lookahead(O.SGD(0.3), 2, 0.5)).minimize, "float64")
    values = {name: value + 1 for name, value in values.items()}
    for name, value in values.items():
        model.scope.set(name, value)
    expected = Slow(values, Descent(sgd(0.3)), 2, 0.5)
    runs = 1 if isinstance(wrap(Lookahead(O.SGD(0.3))), Lookahead) else 2
    for step in range(6):
        numbers = range(runs * step, runs * step + runs)
        expected.step(merged(expected.values, numbers, "float64"))
        for number in numbers:
            model.step(number)
        assert_model_has(model, expected.values, "float64")


def test_an_average_around_it_sees_what_it_leaves():
    average = O.ParameterAverage(Lookahead(O.SGD(0.3), 3), Uniform())
    model = SmallModel(average.minimize, "float64")
    history = []
    for number in range(20):
        model.step(number)
        history.append(model.values())
    with average.apply(model.exe, model.scope):
        for name in model.parameters:
            mean = np.mean([one[name] for one in history], 0)
            np.testing.assert_allclose(model.scope.get(name), mean, rtol=1e-12, atol=1e-14)


def test_training_goes_on_from_a_checkpoint(tmp_path):
    through, first, second = (SmallModel(Lookahead(O.Adam(0.05), 4).minimize) for _ in range(3))
    goes_on_from_a_checkpoint(tmp_path, through, first, second)


def test_a_table_with_sparse_gradients_is_refused():
    """Its operators have not been appended; a dense gradient, and a table of another optimizer, are accepted."""
    for make in (
        lambda: Lookahead(O.SGD(0.1)),
        lambda: LossScaling(Lookahead(O.SGD(0.1))),
        lambda: GradientMerge(Lookahead(O.SGD(0.1)), 2),
        lambda: Lookahead(GradientMerge(O.SGD(0.1), 2)),
        lambda: O.ParameterAverage(Lookahead(O.SGD(0.1)), Uniform()),
    ):
        program = None

        def minimize(loss):
            nonlocal program
            program = loss.block.program
            make().minimize(loss)

        with pytest.raises(pm.ProgramError, match="Lookahead changes every row of 'table'.*is_sparse=False"):
            Table(minimize)
        assert not any("average" in name for name in program.global_block().vars)
        assert not {"sgd", "parameter_average", "average_weight", "sum", "check_finite_and_unscale"} & {
            op.type for block in program.blocks for op in block.ops
        }
    Table(Lookahead(O.SGD(0.1)).minimize, is_sparse=False).run([1, 2])
    Table(lambda loss: Lookahead(O.SGD(0.1)).minimize(loss, parameter_list=["fc_0.w_0"])).run([1, 2])


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Lookahead(O.SGD), "not its class"),
        (lambda: Lookahead(3), "takes an optimizer"),
        (lambda: Lookahead(O.SGD(0.1), 0), "k"),
        (lambda: Lookahead(O.SGD(0.1), 1.5), "k"),
        (lambda: Lookahead(O.SGD(0.1), alpha=0), "above 0"),
        (lambda: Lookahead(O.SGD(0.1), alpha=1.1), "at most 1"),
        (lambda: Lookahead(O.SGD(0.1), alpha=float("nan")), "alpha"),
        (lambda: Lookahead(O.SGD(0.1), alpha="x"), "alpha"),
        (lambda: Lookahead(Lookahead(O.SGD(0.1))), "one of them is enough"),
        (lambda: Lookahead(GradientMerge(Lookahead(O.SGD(0.1)), 2)), "one of them is enough"),
        (lambda: Lookahead(O.ParameterAverage(O.SGD(0.1), Uniform())), "put that around Lookahead"),
        (lambda: Lookahead(O.ScheduleFree(O.SGD(0.1))), "put that around Lookahead"),
    ],
)
def test_wrong_arguments_are_refused(make, words):
    with pytest.raises(pm.ProgramError, match=words):
        make()


@pytest.mark.parametrize(
    "second",
    [lambda first: first, lambda _: Lookahead(O.SGD(0.1)), lambda _: O.Adam(0.1)],
    ids=["itself", "another", "an optimizer"],
)
def test_parameters_that_have_it_get_no_second_optimizer(second):
    first = Lookahead(O.SGD(0.1))
    gets_no_second_optimizer(first, second(first))


def test_it_serves_one_program():
    once = Lookahead(O.SGD(0.1))
    SmallModel(once.minimize)
    with pytest.raises(pm.ProgramError, match="this Lookahead has its program already; make another one"):
        SmallModel(once.minimize)


def test_two_of_them_have_parameters_of_their_own():
    def minimize(loss):
        Lookahead(O.SGD(0.3), 2).minimize(loss, parameter_list=["fc_0.w_0", "fc_0.b_0"])
        Lookahead(O.SGD(0.3), 2).minimize(loss, parameter_list=["fc_1.w_0", "fc_1.b_0"])

    both, one = SmallModel(minimize, "float64"), SmallModel(Lookahead(O.SGD(0.3), 2).minimize, "float64")
    for number in range(9):
        both.step(number)
        one.step(number)
    for name in one.parameters:
        np.testing.assert_allclose(both.scope.get(name), one.scope.get(name), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("wrapper", [pm.optimizer.Lookahead, pm.optimizer.ScheduleFree])
def test_parameters_of_16_bits_are_refused(wrapper, dtype):
    w = pm.layers.create_parameter([3], dtype, name="w")
    words = f"{wrapper.__name__} sets parameters to averages.*'w' is {dtype}; leave it out with parameter_list"
    with pytest.raises(pm.ProgramError, match=words):
        wrapper(pm.optimizer.SGD(0.1)).minimize(pm.layers.reduce_sum(w))
