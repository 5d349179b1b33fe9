# Every optimizer beyond SGD, Momentum and Adam: steps against NumPy formulas, dense and sparse.
import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, start

O = pm.optimizer
STEPS = 5
START = np.array([1.0, -2.0, 0.5])
ROWS = np.array([3, 1, 3])


def adamw(p, g, s, rate, decay=0.1, ratio=0.5):
    return adam(p * (1 - rate * ratio * decay), g, s, rate)


def adam(p, g, s, rate, beta1=0.8, beta2=0.99, epsilon=1e-3):
    return p - rate * adam_direction(g, s, beta1, beta2, epsilon)


def adam_direction(g, s, beta1, beta2, epsilon):
    s["t"] = s.get("t", 0) + 1
    s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
    s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * g * g
    return s["m"] / (1 - beta1 ** s["t"]) / (np.sqrt(s["v"] / (1 - beta2 ** s["t"])) + epsilon)


def adamax(p, g, s, rate, beta1=0.8, beta2=0.9, epsilon=1e-3):
    s["t"] = s.get("t", 0) + 1
    s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
    s["u"] = np.maximum(np.abs(g), beta2 * s.get("u", 0) + epsilon)
    return p - rate / (1 - beta1 ** s["t"]) * s["m"] / s["u"]


def adagrad(p, g, s, rate, epsilon=1e-3, begin=0.2):
    s["m"] = s.get("m", begin) + g * g
    return p - rate * g / (np.sqrt(s["m"]) + epsilon)


def decayed_adagrad(p, g, s, rate, decay=0.9, epsilon=1e-3):
    s["m"] = decay * s.get("m", 0) + (1 - decay) * g * g
    return p - rate * g / (np.sqrt(s["m"]) + epsilon)


def adadelta(p, g, s, rate, rho=0.9, epsilon=1e-3):
    s["a"] = rho * s.get("a", 0) + (1 - rho) * g * g
    step = -np.sqrt((s.get("b", 0) + epsilon) / (s["a"] + epsilon)) * g
    s["b"] = rho * s.get("b", 0) + (1 - rho) * step * step
    return p + rate * step


def rmsprop(p, g, s, rate, rho=0.9, epsilon=1e-3, mu=0.5, centered=False):
    s["s"] = rho * s.get("s", 0) + (1 - rho) * g * g
    s["g"] = rho * s.get("g", 0) + (1 - rho) * g
    s["m"] = mu * s.get("m", 0) + rate * g / np.sqrt(s["s"] - centered * s["g"] ** 2 + epsilon)
    return p - s["m"]


def ftrl(p, g, s, rate, l1=0.1, l2=0.2, k=0.5):
    n, before = s.get("s", 0) + g * g, s.get("s", 0)
    s["l"] = s.get("l", 0) + g - (n**k - before**k) / rate * p
    s["s"] = n
    return np.where(np.abs(s["l"]) > l1, (np.sign(s["l"]) * l1 - s["l"]) / (n**k / rate + 2 * l2), 0)


def lamb(p, g, s, rate, decay=0.1, always=False):
    t = adam_direction(g, s, 0.8, 0.99, 1e-3) + decay * p
    adapted = decay > 0 or always
    return p - rate * (np.linalg.norm(p) / np.linalg.norm(t) if adapted else 1.0) * t


def lars(p, g, s, rate, mu=0.9, coeff=0.1, decay=0.05):
    local = rate * coeff * np.linalg.norm(p) / (np.linalg.norm(g) + decay * np.linalg.norm(p)) if decay else rate
    s["v"] = mu * s.get("v", 0) + local * (g + decay * p)
    return p - s["v"]


def dpsgd(p, g, s, rate, clip=0.5):
    return p - rate * g / max(np.linalg.norm(g) / clip, 1)


def shrunk(q, rate, l1=0.1, l2=0.2):
    return np.sign(q) * np.maximum(np.abs(q) - rate * l1, 0) / (1 + rate * l2)


def proximal_gd(p, g, s, rate):
    return shrunk(p - rate * g, rate)


def proximal_adagrad(p, g, s, rate):
    s["m"] = s.get("m", 0.3) + g * g
    return shrunk(p - rate * g / np.sqrt(s["m"]), rate)


ADAM = {"beta1": 0.8, "beta2": 0.99, "epsilon": 1e-3}
CASES = {
    "adamw": (lambda: O.AdamW(0.1, weight_decay=0.1, lr_ratio=lambda p: 0.5, **ADAM), adamw),
    "adamw without decay": (lambda: O.AdamW(0.1, apply_decay_param_fun=lambda name: name != "w", **ADAM), adam),
    "adamax": (lambda: O.Adamax(0.1, beta1=0.8, beta2=0.9, epsilon=1e-3), adamax),
    "adagrad": (lambda: O.Adagrad(0.1, epsilon=1e-3, initial_accumulator_value=0.2), adagrad),
    "decayed_adagrad": (lambda: O.DecayedAdagrad(0.1, decay=0.9, epsilon=1e-3), decayed_adagrad),
    "adadelta": (lambda: O.Adadelta(0.1, epsilon=1e-3, rho=0.9), adadelta),
    "rmsprop": (lambda: O.RMSProp(0.1, rho=0.9, epsilon=1e-3, momentum=0.5), rmsprop),
    "centered rmsprop": (
        lambda: O.RMSProp(0.1, rho=0.9, epsilon=1e-3, momentum=0.5, centered=True),
        lambda *args: rmsprop(*args, centered=True),
    ),
    "ftrl": (lambda: O.Ftrl(0.1, l1=0.1, l2=0.2), ftrl),
    "lamb": (lambda: O.Lamb(0.1, lamb_weight_decay=0.1, **ADAM), lamb),
    "lamb without decay": (
        lambda: O.Lamb(0.1, exclude_from_weight_decay_fn=lambda p: p.name == "w", **ADAM),
        lambda *args: lamb(*args, decay=0.0),
    ),
    "lamb that always adapts": (
        lambda: O.Lamb(0.1, lamb_weight_decay=0.0, always_adapt=True, **ADAM),
        lambda *args: lamb(*args, decay=0.0, always=True),
    ),
    "lars": (lambda: O.LarsMomentum(0.1, 0.9, lars_coeff=0.1, lars_weight_decay=0.05), lars),
    "lars without decay": (
        lambda: O.LarsMomentum(0.1, 0.9, exclude_from_weight_decay=["w"]),
        lambda *args: lars(*args, decay=0.0),
    ),
    "dpsgd": (lambda: O.Dpsgd(0.1, clip=0.5, sigma=0.0), dpsgd),
    "proximal_gd": (lambda: O.ProximalGD(0.1, l1=0.1, l2=0.2), proximal_gd),
    "proximal_adagrad": (lambda: O.ProximalAdagrad(0.1, l1=0.1, l2=0.2, initial_accumulator_value=0.3), proximal_adagrad),
}


def weight(dtype="float32"):
    return pm.layers.create_parameter(
        [3], dtype, attr=pm.ParamAttr("w", pm.initializer.NumpyArrayInitializer(START.astype(dtype)))
    )


@pytest.mark.parametrize("dtype, rtol", [("float32", 1e-4), ("float64", 1e-6)])  # attributes are float32 in both
@pytest.mark.parametrize("case", CASES)
def test_steps_follow_the_formula(case, dtype, rtol):
    make, formula = CASES[case]
    ops, _ = make().minimize(pm.layers.mean(pm.layers.square(weight(dtype))))
    assert len(ops) == 1
    exe, p, state = start(), START, {}
    for _ in range(STEPS):
        exe.run()
        p = formula(p, 2 * p / 3, state, 0.1)
        np.testing.assert_allclose(pm.global_scope().get("w"), p, rtol=rtol, atol=1e-6)


@pytest.mark.parametrize(
    "make, formula, other_rows_move",
    [
        (lambda: O.Adagrad(0.1, epsilon=1e-3, initial_accumulator_value=0.2), adagrad, False),
        (lambda: O.RMSProp(0.1, rho=0.9, epsilon=1e-3, momentum=0.5), rmsprop, True),
        (lambda: O.Ftrl(0.1, l1=0.1, l2=0.2), ftrl, False),
        (lambda: O.Lamb(0.1, lamb_weight_decay=0.1, **ADAM), lamb, True),
    ],
    ids=["adagrad", "rmsprop", "ftrl", "lamb"],
)
def test_sparse_gradients(make, formula, other_rows_move):
    ids = pm.layers.data("ids", [-1], dtype="int64")
    out = pm.layers.embedding(ids, [5, 2], is_sparse=True, param_attr="table")
    make().minimize(pm.layers.reduce_sum(pm.layers.square(out)))
    exe, state = start(), {}
    p = pm.global_scope().get("table").astype("float64")
    counts = np.bincount(ROWS, minlength=5)[:, None]
    for _ in range(STEPS):
        exe.run(feed={"ids": ROWS})
        moved = formula(p, 2 * p * counts, state, 0.1)
        p = moved if other_rows_move else np.where(counts > 0, moved, p)
        np.testing.assert_allclose(pm.global_scope().get("table"), p, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: O.AdamW(0.1),
        lambda: O.Adamax(0.1),
        lambda: O.DecayedAdagrad(0.1),
        lambda: O.Adadelta(0.1),
        lambda: O.LarsMomentum(0.1, 0.9),
        lambda: O.Dpsgd(0.1),
        lambda: O.ProximalGD(0.1),
        lambda: O.ProximalAdagrad(0.1),
    ],
)
def test_where_a_sparse_gradient_is_refused(make):
    out = pm.layers.embedding(pm.layers.data("ids", [-1], dtype="int64"), [5, 2], is_sparse=True)
    with pytest.raises(pm.Error, match="Grad .*selected rows"):
        make().minimize(pm.layers.reduce_sum(out))


@pytest.mark.parametrize(
    "make, names",
    [
        (lambda: O.AdamW(), "moment1_0 moment2_0 beta1_pow_acc_0 beta2_pow_acc_0"),
        (lambda: O.Adamax(), "moment_0 inf_norm_0 beta1_pow_acc_0"),
        (lambda: O.Adagrad(0.1), "moment_0"),
        (lambda: O.DecayedAdagrad(0.1), "moment_0"),
        (lambda: O.Adadelta(), "_avg_squared_grad_0 _avg_squared_update_0"),
        (lambda: O.RMSProp(0.1), "momentum_0 mean_square_0 mean_grad_0"),
        (lambda: O.Ftrl(0.1), "squared_0 linear_0"),
        (lambda: O.LarsMomentum(0.1, 0.9), "velocity_0"),
        (lambda: O.Lamb(), "moment1_0 moment2_0 beta1_pow_acc_0 beta2_pow_acc_0"),
        (lambda: O.Dpsgd(), ""),
        (lambda: O.ProximalGD(0.1), ""),
        (lambda: O.ProximalAdagrad(0.1), "moment_0"),
    ],
)
def test_accumulators_have_paddlepaddles_names(make, names):
    make().minimize(pm.layers.mean(weight()))
    kept = [name for name, var in pm.default_main_program().global_block().vars.items() if var.persistable]
    assert sorted(kept) == sorted(["w", "learning_rate_0", *(f"w_{name}" for name in names.split())])


def test_adamax_advances_the_power_after_all_parameters():
    w, v = weight(), pm.layers.create_parameter([3], name="v")
    O.Adamax(0.1).minimize(pm.layers.mean(w * v))
    assert op_types()[-4:] == ["adamax", "adamax", "scale", "scale"]
    powers = pm.default_main_program().global_block().ops[-2:]
    assert [op.output("Out") for op in powers] == [["v_beta1_pow_acc_0"], ["w_beta1_pow_acc_0"]]
    assert all(op.attr("op_role") == 2 for op in powers)


def test_dpsgd_draws_one_number_a_step():
    O.Dpsgd(0.1, clip=1e6, batch_size=4.0, sigma=2.0, seed=7).minimize(pm.layers.mean(weight()))
    start().run()
    noise = (START - pm.global_scope().get("w")) / 0.1 - 1 / 3
    assert abs(noise[0]) > 1e-3
    np.testing.assert_allclose(noise, noise[0], rtol=1e-3, atol=1e-4)


def test_lamb_has_no_lazy_mode():
    with pytest.raises(TypeError, match="lazy_mode"):
        O.Lamb(lazy_mode=True)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: O.AdamW(weight_decay="x"), "AdamW: weight_decay is 'x'"),
        (lambda: O.AdamW(beta1=1.0), "AdamW: beta1 is 1.0"),
        (lambda: O.AdamW(lr_ratio=0.5), "AdamW: lr_ratio is 0.5, it must be a function"),
        (lambda: O.Lamb(exclude_from_weight_decay_fn="w"), "Lamb: exclude_from_weight_decay_fn is 'w'"),
        (lambda: O.Adagrad(0.1, initial_accumulator_value=-1), "initial_accumulator_value is -1"),
        (lambda: O.RMSProp(0.1, rho=1.5), "RMSProp: rho is 1.5"),
        (lambda: O.Ftrl(0.1, l1=-1), "Ftrl: l1 is -1"),
        (lambda: O.Adadelta(rho=None), "Adadelta: rho is None"),
        (lambda: O.Dpsgd(sigma=-1), "Dpsgd: sigma is -1"),
        (lambda: O.LarsMomentum(0.1, 0.9, exclude_from_weight_decay="b_0"), "it must be a list of strings"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(pm.ProgramError, match=words):
        make()
