# Optimizers: operators as PaddlePaddle appends them, and steps against their formulas.
from fractions import Fraction

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import numbers_of
from programs import op_types, start

STEPS = 4
START = np.array([1.0, -2.0, 0.5], "float32")


def gradient(p):
    """The gradient of mean(square(p))."""
    return 2 * p / 3


def sgd(p, rate=0.1):
    while True:
        p = p - rate * gradient(p)
        yield p


def momentum(p, nesterov, rate=0.1, mu=0.9):
    v = np.zeros_like(p)
    while True:
        g = gradient(p)
        v = mu * v + g
        p = p - rate * (g + mu * v if nesterov else v)
        yield p


def adam(p, rate=0.1, beta1=0.8, beta2=0.99, epsilon=1e-3):
    m, v, t = np.zeros_like(p), np.zeros_like(p), 0
    while True:
        g, t = gradient(p), t + 1
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        p = p - rate * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + epsilon)
        yield p


def weight(**attr):
    attr = pm.ParamAttr("w", pm.initializer.NumpyArrayInitializer(START), **attr)
    return pm.layers.create_parameter([3], attr=attr)


@pytest.mark.parametrize(
    "optimizer, formula",
    [
        (pm.optimizer.SGD(0.1), sgd(START.astype("float64"))),
        (pm.optimizer.Momentum(0.1, momentum=0.9), momentum(START.astype("float64"), False)),
        (pm.optimizer.Momentum(0.1, momentum=0.9, use_nesterov=True), momentum(START.astype("float64"), True)),
        (pm.optimizer.Adam(0.1, beta1=0.8, beta2=0.99, epsilon=1e-3), adam(START.astype("float64"))),
    ],
    ids=["sgd", "momentum", "nesterov", "adam"],
)
def test_steps_follow_the_formula(optimizer, formula):
    ops, pairs = optimizer.minimize(pm.layers.mean(pm.layers.square(weight())))
    assert len(ops) == 1 and [(p.name, g.name) for p, g in pairs] == [("w", "w@GRAD")]
    exe = start()
    for _, expected in zip(range(STEPS), formula):
        exe.run()
        np.testing.assert_allclose(pm.global_scope().get("w"), expected, rtol=2e-5)


def test_one_operator_a_parameter_in_the_order_of_names():
    x, y = pm.layers.data("x", [-1, 4]), pm.layers.data("y", [-1, 2])
    loss = pm.layers.mean(pm.layers.square_error_cost(pm.layers.fc(pm.layers.fc(x, 3), 2), y))
    ops, _ = pm.optimizer.Adam(0.01).minimize(loss)
    names = ["fc_0.b_0", "fc_0.w_0", "fc_1.b_0", "fc_1.w_0"]
    assert [op.input("Param")[0] for op in ops] == names
    assert op_types()[-4:] == ["adam"] * 4
    for op, name in zip(ops, names):
        assert op.attr("op_role") == 2 and op.attr("op_role_var") == [name, name + "@GRAD"]
        assert op.output("ParamOut") == [name] and op.output("Beta1PowOut") == [name + "_beta1_pow_acc_0"]
    start()
    scope = pm.global_scope()
    assert scope.get("fc_0.w_0_moment1_0").shape == (4, 3) and not scope.get("fc_0.w_0_moment1_0").any()
    assert scope.get("fc_0.w_0_beta1_pow_acc_0") == np.float32([0.9])
    assert scope.get("learning_rate_0") == np.float32(0.01)


def test_a_parameters_own_learning_rate():
    pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.square(weight(learning_rate=0.5))))
    scaled = pm.default_main_program().global_block().ops[-2]
    assert (scaled.type, scaled.attr("op_role")) == ("scale", 18)
    start().run()
    np.testing.assert_allclose(pm.global_scope().get("w"), START - 0.05 * gradient(START), rtol=1e-6)


def test_the_learning_rate_may_be_a_variable_or_be_set():
    rate = pm.layers.create_global_var([1], 0.1, name="rate")
    pm.optimizer.SGD(rate).minimize(pm.layers.mean(pm.layers.square(weight())))
    exe = start()
    pm.global_scope().set("rate", np.array([0.3], "float32"))
    exe.run()
    np.testing.assert_allclose(pm.global_scope().get("w"), START - 0.3 * gradient(START), rtol=1e-6)


def test_parameter_list_says_what_changes():
    w = weight()
    other = pm.layers.create_parameter([3], name="other")
    pm.optimizer.SGD(0.1, parameter_list=[w]).minimize(pm.layers.mean(w * other))
    exe = start()
    before = pm.global_scope().get("other")
    exe.run()
    np.testing.assert_array_equal(pm.global_scope().get("other"), before)
    assert (pm.global_scope().get("w") != START).any()


def test_only_the_rows_of_a_sparse_gradient_change():
    ids = pm.layers.data("ids", [-1], dtype="int64")
    out = pm.layers.embedding(ids, [5, 2], is_sparse=True, param_attr="table")
    pm.optimizer.SGD(0.5).minimize(pm.layers.reduce_sum(out))
    exe = start()
    before = pm.global_scope().get("table")
    exe.run(feed={"ids": np.array([3, 1, 3])})
    expected = before - 0.5 * np.array([0, 1, 0, 2, 0], "float32")[:, None]
    np.testing.assert_allclose(pm.global_scope().get("table"), expected, rtol=1e-6)


def test_float64_parameters_have_a_float64_rate():
    w = pm.layers.create_parameter([3], dtype="float64", name="w")
    pm.optimizer.Adam(0.1).minimize(pm.layers.mean(pm.layers.square(w)))
    start().run()
    assert pm.global_scope().get("w").dtype == pm.global_scope().get("learning_rate_0").dtype == np.float64


def test_refusals():
    with pytest.raises(pm.ProgramError, match="no trainable parameter leads to 'mean_0.tmp_0'"):
        pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.data("x", [2])))
    with pytest.raises(pm.ProgramError, match="learning_rate is 'fast'"):
        pm.optimizer.SGD("fast")
    with pytest.raises(pm.ProgramError, match="grad_clip must be one of"):
        pm.optimizer.SGD(0.1, grad_clip=5.0)
    for rate in (float("nan"), float("inf"), -0.1, True):
        with pytest.raises(pm.ProgramError, match="learning_rate is .*, it must be a finite number, at least 0"):
            pm.optimizer.SGD(rate)
    with pytest.raises(pm.ProgramError, match="beta1 is 'x', it must be a finite number, at least 0 and below 1"):
        pm.optimizer.Adam(beta1="x")
    with pytest.raises(pm.ProgramError, match="momentum is None"):
        pm.optimizer.Momentum(momentum=None)


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.int64(0), Fraction(1, 2)])
def test_every_real_number_is_a_learning_rate(number):
    pm.optimizer.SGD(number, regularization=number).minimize(pm.layers.mean(weight()))
    start()
    assert pm.global_scope().get("learning_rate_0") == float(number)


@pytest.mark.parametrize(
    "loss, words",
    [
        (lambda w: 3.0, "a Variable, not 3.0"),
        (lambda w: None, "not None"),
        (lambda w: "w", "not 'w'"),
        (lambda w: w, r"loss 'w' has shape \[3\], not one element: take its mean"),
        (lambda w: w + pm.layers.data("x", [-1, 3]), r"shape \[-1, 3\], not one element: take its mean"),
    ],
)
def test_what_is_no_loss(loss, words):
    with pytest.raises(pm.ProgramError, match=words):
        pm.optimizer.SGD(0.1).minimize(loss(weight()))


def test_a_parameter_has_one_optimizer():
    w, v = weight(), pm.layers.create_parameter([3], name="v")
    loss = pm.layers.mean(w * v)
    for parameter in (w, v):  # as in the two halves of an adversarial network
        pm.optimizer.SGD(0.1, parameter_list=[parameter]).minimize(loss)
    with pytest.raises(pm.ProgramError, match="'v' is changed by an operator sgd already"):
        pm.optimizer.Adam(0.1, parameter_list="v").minimize(loss)
    start().run()


def test_an_empty_parameter_list_is_refused():
    """It does not stand for every parameter: a filter that found none would train them all."""
    loss = pm.layers.mean(pm.layers.square(weight()))
    for minimize in (
        lambda: pm.optimizer.SGD(0.1, parameter_list=[]).minimize(loss),
        lambda: pm.optimizer.SGD(0.1).minimize(loss, parameter_list=[]),
        lambda: pm.optimizer.GradientMerge(pm.optimizer.SGD(0.1), 2).minimize(loss, parameter_list=()),
    ):
        with pytest.raises(pm.ProgramError, match="parameter_list is empty: give the parameters to change, or leave it out"):
            minimize()
    with pytest.raises(pm.ProgramError, match="parameter_list is 3, it must hold variables or their names"):
        pm.optimizer.SGD(0.1, parameter_list=3)


def test_an_iterator_of_parameters_serves_several_programs():
    optimizer = pm.optimizer.SGD(0.1, parameter_list=(name for name in ["w"]))
    for _ in range(2):
        with pm.program_guard(pm.Program(), pm.Program()):
            other = pm.layers.create_parameter([3], name="other")
            _, pairs = optimizer.minimize(pm.layers.mean(weight() * other))
            assert [parameter.name for parameter, _ in pairs] == ["w"]


@pytest.mark.parametrize("dtype, tolerance", [("bfloat16", 2**-8), ("float16", 2**-11)])
def test_rates_of_16_bit_parameters(dtype, tolerance):
    """Set by a number, read back, and written by a schedule."""
    w = pm.layers.create_parameter([3], dtype, attr=pm.ParamAttr("w", pm.initializer.Constant(1.0)))
    optimizer = pm.optimizer.SGD(0.1)
    optimizer.minimize(pm.layers.reduce_sum(w))
    exe = start()
    assert optimizer.get_lr() == pytest.approx(0.1, rel=tolerance)
    optimizer.set_lr(0.25)
    exe.run()
    assert optimizer.get_lr() == 0.25
    value = pm.global_scope().get("w")
    np.testing.assert_array_equal(numbers_of(value) if dtype == "bfloat16" else value, [0.75] * 3)
    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        v = pm.layers.create_parameter([3], dtype, attr=pm.ParamAttr("v", pm.initializer.Constant(1.0)))
        pm.optimizer.SGD(pm.lr.ExponentialDecay(0.5, 0.5)).minimize(pm.layers.reduce_sum(v))
        start().run()
        value = pm.global_scope().get("v")
    np.testing.assert_array_equal(numbers_of(value) if dtype == "bfloat16" else value, [0.5] * 3)


PAIRS = {
    "twice": (lambda p, q, g: [(p, g), (p, q)], "'p' is in two of the pairs: give it once"),
    "shared": (lambda p, q, g: [(p, g), (q, g)], "'p@GRAD' is the gradient of 'p' and of 'q': give one of them a copy"),
    "none": (lambda p, q, g: [(p, g), (q, None)], "the gradient of 'q' is None, since no target depends on it"),
    "empty": (lambda p, q, g: [], r"takes a list of \(parameter, gradient\) pairs, not \[\]"),
    "zip": (lambda p, q, g: zip([p], [g]), r"takes a list of \(parameter, gradient\) pairs, not <zip"),
    "number": (lambda p, q, g: [(p, 1.0)], "the gradient of 'p' is 1.0, it must be a Variable"),
    "turned": (lambda p, q, g: [(g, p)], r"takes \(parameter, gradient\) pairs, not \(<Variable p@GRAD"),
}
AROUND = {
    "none": lambda optimizer: optimizer,
    "merge": lambda optimizer: pm.optimizer.GradientMerge(optimizer, k_steps=2),
    "average": lambda optimizer: pm.optimizer.ParameterAverage(optimizer, window_size=2),
    "lookahead": lambda optimizer: pm.optimizer.Lookahead(optimizer),
    "schedule free": lambda optimizer: pm.optimizer.ScheduleFree(optimizer),
    "mixed precision": lambda optimizer: pm.amp.decorate(optimizer, dtype="bfloat16"),
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("pairs, words", PAIRS.values(), ids=PAIRS)
def test_pairs_that_no_optimizer_can_take(pairs, words, around):
    """Clipping and regularization write to the variable of a gradient: two parameters with one would see it twice."""
    p, q = (pm.layers.create_parameter([2], attr=pm.ParamAttr(name=name)) for name in "pq")
    (gradient,) = pm.gradients([pm.layers.reduce_sum(p * p)], [p])
    before = len(pm.default_main_program().global_block().ops)
    with pytest.raises(pm.ProgramError, match=words):
        around(pm.optimizer.SGD(0.1, regularization=0.5)).apply_gradients(pairs(p, q, gradient))
    assert len(pm.default_main_program().global_block().ops) == before
