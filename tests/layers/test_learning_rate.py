# Schedules made of operators: values of each run against their formulas, the counter, clones.
import math

import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, start

RUNS = 9


def piecewise(t):
    return 0.3 if t < 2 else 0.1 if t < 5 else 0.05


def cycled(t):
    steps = 3 * max(1, math.ceil(t / 3))
    return (0.3 - 0.01) * (1 - t / steps) ** 1.5 + 0.01


@pytest.mark.parametrize(
    "schedule, formula",
    [
        (lambda: pm.lr.exponential_decay(0.3, 4, 0.7), lambda t: 0.3 * 0.7 ** (t / 4)),
        (lambda: pm.lr.exponential_decay(0.3, 4, 0.7, staircase=True), lambda t: 0.3 * 0.7 ** (t // 4)),
        (lambda: pm.lr.natural_exp_decay(0.3, 4, 0.7), lambda t: 0.3 * math.exp(-0.7 * t / 4)),
        (lambda: pm.lr.natural_exp_decay(0.3, 3, 0.7, staircase=True), lambda t: 0.3 * math.exp(-0.7 * (t // 3))),
        (lambda: pm.lr.inverse_time_decay(0.3, 4, 0.7), lambda t: 0.3 / (1 + 0.7 * t / 4)),
        (lambda: pm.lr.inverse_time_decay(0.3, 4, 0.7, staircase=True), lambda t: 0.3 / (1 + 0.7 * (t // 4))),
        (lambda: pm.lr.polynomial_decay(0.3, 5, 0.01, 2.0), lambda t: 0.29 * (1 - min(t, 5) / 5) ** 2 + 0.01),
        (lambda: pm.lr.polynomial_decay(0.3, 3, 0.01, 1.5, cycle=True), cycled),
        (lambda: pm.lr.piecewise_decay([2, 5], [0.3, 0.1, 0.05]), piecewise),
        (lambda: pm.lr.noam_decay(16, 3, 1.5), lambda t: 1.5 * 16**-0.5 * min((t + 1) ** -0.5, (t + 1) * 3**-1.5)),
        (lambda: pm.lr.cosine_decay(0.3, 2, 4), lambda t: 0.15 * (math.cos((t // 2) * math.pi / 4) + 1)),
        (lambda: pm.lr.linear_lr_warmup(0.3, 4, 0.02, 0.2), lambda t: 0.02 + 0.18 * t / 4 if t < 4 else 0.3),
        (
            lambda: pm.lr.linear_lr_warmup(pm.lr.piecewise_decay([2, 5], [0.3, 0.1, 0.05]), 3, 0.0, 0.3),
            lambda t: 0.1 * t if t < 3 else piecewise(t),
        ),
        (
            lambda: pm.lr.pow2_decay_with_linear_warmup(3, 7, 0.3, 0.01),
            lambda t: 0.1 * (t + 1) if t < 3 else 0.29 * (1 - (min(t + 1, 7) - 3) / 4) ** 2 + 0.01,
        ),
    ],
    ids=lambda value: "",
)
def test_rates_follow_the_formula(schedule, formula):
    rate = schedule()
    assert rate.shape == (1,) and rate.dtype == "float32"
    exe = start()
    found = [exe.run(fetch_list=[rate])[0][0] for _ in range(RUNS)]
    np.testing.assert_allclose(found, [formula(t) for t in range(RUNS)], rtol=2e-6, atol=1e-8)
    assert {op.attr("op_role") for op in pm.default_main_program().global_block().ops} == {16}


def test_a_staircase_steps_at_the_multiples_of_every_length():
    rates = [pm.lr.natural_exp_decay(1.0, length, math.log(2.0), staircase=True) for length in (3, 41, 47, 55)]
    exe = start()
    found = np.array([exe.run(fetch_list=rates) for _ in range(111)])[:, :, 0]
    expected = [[0.5 ** (t // length) for length in (3, 41, 47, 55)] for t in range(111)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_schedules_share_one_counter_that_is_counted_first():
    w = pm.layers.create_parameter([3], name="w")
    loss = pm.layers.mean(w)
    rates = [pm.lr.exponential_decay(0.1, 2, 0.5), pm.lr.cosine_decay(0.1, 2, 4)]
    assert op_types().count("increment") == 1 and op_types()[0] == "increment"
    counter = pm.default_main_program().global_block().vars["@LR_DECAY_COUNTER@"]
    assert (counter.dtype, counter.shape, counter.persistable) == ("int64", (1,), True)
    pm.optimizer.SGD(rates[0]).minimize(loss)
    exe = start()
    assert pm.global_scope().get("@LR_DECAY_COUNTER@") == -1
    exe.run()
    assert pm.global_scope().get("@LR_DECAY_COUNTER@") == 0
    test = pm.default_main_program().clone(for_test=True)
    assert op_types(test) == ["mean"] and "@LR_DECAY_COUNTER@" not in test.global_block().vars


def test_a_program_carries_its_schedule():
    w = pm.layers.create_parameter([1], name="w", default_initializer=pm.initializer.Constant(0.0))
    pm.optimizer.SGD(pm.lr.piecewise_decay([1, 2], [1.0, 0.5, 0.25])).minimize(pm.layers.reduce_sum(w))
    exe, again = start(), pm.Program.from_bytes(pm.default_main_program().to_bytes())
    for _ in range(4):
        exe.run(again)
    assert pm.global_scope().get("w") == -2.0
    assert pm.global_scope().get("learning_rate") == 0.25


def test_noam_begins_at_one():
    pm.lr.noam_decay(16, 3)
    start().run()
    assert pm.global_scope().get("@LR_DECAY_COUNTER@") == 1


@pytest.mark.parametrize(
    "mistake, words",
    [
        (lambda: pm.lr.exponential_decay("fast", 4, 0.7), "exponential_decay: learning_rate is 'fast'"),
        (lambda: pm.lr.exponential_decay(0.1, 0, 0.7), "decay_steps is 0, it must be above 0"),
        (lambda: pm.lr.natural_exp_decay(0.1, 2, None), "decay_rate is None"),
        (lambda: pm.lr.polynomial_decay(0.1, 2, -0.1), "end_learning_rate is -0.1, it must be at least 0"),
        (lambda: pm.lr.piecewise_decay([2, 1], [1, 2, 3]), "must rise"),
        (lambda: pm.lr.piecewise_decay([2], [1]), "be one more"),
        (lambda: pm.lr.piecewise_decay(2, [1, 2]), "must be lists"),
        (lambda: pm.lr.noam_decay(16, 0), "warmup_steps is 0"),
        (lambda: pm.lr.cosine_decay(0.1, 2, 0), "epochs is 0"),
        (lambda: pm.lr.pow2_decay_with_linear_warmup(3, 3, 0.1, 0.0), "total_steps is 3, it must be .* at least 4"),
        (lambda: pm.lr.linear_lr_warmup(pm.layers.data("x", [2]), 3, 0.0, 0.1), "it must be one float32 element"),
    ],
)
def test_refusals_change_nothing(mistake, words):
    with pytest.raises(pm.ProgramError, match=words) as caught:
        mistake()
    assert "test_learning_rate.py:" in str(caught.value) and op_types() == []


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_a_schedule_in_the_program_is_for_parameters_of_each_dtype(dtype):
    p, q = (pm.layers.create_parameter([2], one, attr=pm.initializer.Constant(1.0)) for one in (dtype, "float32"))
    p.learning_rate = 0.5
    loss = pm.layers.reduce_sum(pm.layers.cast(p, "float32")) + pm.layers.reduce_sum(q)
    pm.optimizer.SGD(pm.layers.piecewise_decay([2], [0.5, 0.25])).minimize(loss)
    exe, fetched = start(), [pm.layers.cast(one, "float32") for one in (p, q)]
    values = [exe.run(fetch_list=fetched) for _ in range(3)][-1]
    np.testing.assert_array_equal(values, [[0.375, 0.375], [-0.25, -0.25]])
