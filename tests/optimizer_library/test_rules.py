# Each rule of the C library against its formula, written again in NumPy's float64.
import numpy as np
import pytest

from one_parameter import gradients, library, message_of, row_gradients, values
from paddle_mini.optimizer.config import config_class

STEPS, RATE = 100, 0.05


def sgd(p, g, s, n, momentum=0.0, nesterov=False, decay=0.0):
    g = g + decay * p
    s["v"] = momentum * s.get("v", 0) + g
    return p - RATE * ((g + momentum * s["v"]) if nesterov else s["v"])


def adadelta(p, g, s, n, rho=0.9, epsilon=1e-5, decay=0.0):
    p = p - RATE * decay * p
    s["a"] = rho * s.get("a", 0) + (1 - rho) * g**2
    u = g * np.sqrt(s.get("d", 0) + epsilon) / np.sqrt(s["a"] + epsilon)
    s["d"] = rho * s.get("d", 0) + (1 - rho) * u**2
    return p - RATE * u


def adagrad(p, g, s, n, epsilon=1e-5, decay=0.0, initial_accumulator_value=0.0):
    p = p - RATE * decay * p
    s["a"] = s.get("a", initial_accumulator_value) + g**2
    return p - RATE * g / (np.sqrt(s["a"]) + epsilon)


def moments(s, g, n, beta_1, beta_2):
    s["m"] = beta_1 * s.get("m", 0) + (1 - beta_1) * g
    s["v"] = beta_2 * s.get("v", 0) + (1 - beta_2) * g**2
    return s["m"] / (1 - beta_1**n), s["v"] / (1 - beta_2**n)


def adam(p, g, s, n, beta_1=0.9, beta_2=0.999, epsilon=1e-8, decay=0.0):
    m, v = moments(s, g, n, beta_1, beta_2)
    return p - RATE * decay * p - RATE * m / (np.sqrt(v) + epsilon)


def adamax(p, g, s, n, beta_1=0.9, beta_2=0.999, epsilon=1e-8):
    s["m"] = beta_1 * s.get("m", 0) + (1 - beta_1) * g
    s["u"] = np.maximum(np.abs(g), beta_2 * s.get("u", 0) + epsilon)
    return p - RATE / (1 - beta_1**n) * s["m"] / s["u"]


def rmsprop(p, g, s, n, rho=0.95, epsilon=1e-6, momentum=0.0, centered=False):
    s["s"] = rho * s.get("s", 0) + (1 - rho) * g**2
    s["g"] = rho * s.get("g", 0) + (1 - rho) * g
    s["m"] = momentum * s.get("m", 0) + RATE * g / np.sqrt(s["s"] - (s["g"] ** 2 if centered else 0) + epsilon)
    return p - s["m"]


def ftrl(p, g, s, n, l1=0.0, l2=0.0, lr_power=-0.5):
    before, k = s.get("n", np.zeros_like(g)), -lr_power
    s["n"] = before + g**2
    s["l"] = s.get("l", 0) + g - (s["n"] ** k - before**k) / RATE * p
    return np.where(np.abs(s["l"]) > l1, (np.sign(s["l"]) * l1 - s["l"]) / (s["n"] ** k / RATE + 2 * l2), 0)


def lamb(p, g, s, n, beta_1=0.9, beta_2=0.999, epsilon=1e-6, weight_decay=0.01, always_adapt=False):
    m, v = moments(s, g, n, beta_1, beta_2)
    t = m / (np.sqrt(v) + epsilon) + weight_decay * p
    adapts = weight_decay > 0 or always_adapt
    return p - RATE * t * (np.linalg.norm(p) / np.linalg.norm(t) if adapts else 1)


def lars(p, g, s, n, momentum=0.9, lars_coeff=0.001, lars_weight_decay=0.0005, epsilon=0.0, rescale_grad=1.0):
    g, size, rate = rescale_grad * g, np.linalg.norm(p), RATE
    if lars_weight_decay:
        rate = RATE * lars_coeff * size / (np.linalg.norm(g) + lars_weight_decay * size + epsilon)
    s["v"] = momentum * s.get("v", 0) + rate * (g + lars_weight_decay * p)
    return p - s["v"]


def decayed_adagrad(p, g, s, n, decay=0.95, epsilon=1e-6):
    s["m"] = decay * s.get("m", 0) + (1 - decay) * g**2
    return p - RATE * g / (np.sqrt(s["m"]) + epsilon)


def dpsgd(p, g, s, n, clip=10.0, batch_size=16.0, sigma=1.0):
    assert sigma == 0
    return p - RATE * g / max(np.linalg.norm(g) / clip, 1)


def shrunk(q, l1, l2):
    return np.sign(q) * np.maximum(np.abs(q) - RATE * l1, 0) / (1 + RATE * l2)


def proximal_gd(p, g, s, n, l1=0.0, l2=0.0):
    return shrunk(p - RATE * g, l1, l2)


def proximal_adagrad(p, g, s, n, l1=0.0, l2=0.0, initial_accumulator_value=0.1):
    s["m"] = s.get("m", initial_accumulator_value) + g**2
    return shrunk(p - RATE * g / np.sqrt(s["m"]), l1, l2)


# The function above with the name of each optimizer's message.
RULES = {name: globals()[message_of(name)] for name in config_class().Optimizer.DESCRIPTOR.values_by_name}
CASES = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("SGD", {"decay": 0.1}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "decay": 0.1}),
    ("Adadelta", {}),
    ("Adadelta", {"rho": 0.5, "epsilon": 1e-3, "decay": 0.1}),
    ("Adagrad", {}),
    ("Adagrad", {"epsilon": 1e-2, "decay": 0.1, "initial_accumulator_value": 0.5}),
    ("Adam", {}),
    ("Adam", {"decay": 0.1}),
    ("Adam", {"beta_1": 0.5, "beta_2": 0.75, "epsilon": 1e-2}),
    ("Adam", {"beta_1": 0.0}),
    ("Adam", {"beta_1": 0.0, "beta_2": 0.0, "epsilon": 0.0}),
    ("Adamax", {}),
    ("Adamax", {"beta_1": 0.0, "beta_2": 0.5, "epsilon": 1e-2}),
    ("RMSProp", {}),
    ("RMSProp", {"momentum": 0.5}),
    ("RMSProp", {"momentum": 0.5, "centered": True, "rho": 0.5, "epsilon": 1e-2}),
    ("Ftrl", {}),
    ("Ftrl", {"l1": 0.5, "l2": 0.25}),
    ("Ftrl", {"l1": 0.5, "lr_power": -0.75}),
    ("Lamb", {}),
    ("Lamb", {"weight_decay": 0.0}),
    ("Lamb", {"weight_decay": 0.0, "always_adapt": True}),
    ("Lars", {}),
    ("Lars", {"lars_weight_decay": 0.0}),
    ("Lars", {"momentum": 0.5, "lars_coeff": 0.25, "epsilon": 0.5, "rescale_grad": 0.5}),
    ("DecayedAdagrad", {}),
    ("DecayedAdagrad", {"decay": 0.5, "epsilon": 1e-2}),
    ("Dpsgd", {"clip": 2.0, "sigma": 0.0}),
    ("ProximalGD", {}),
    ("ProximalGD", {"l1": 0.5, "l2": 0.25}),
    ("ProximalAdagrad", {}),
    ("ProximalAdagrad", {"l1": 0.5, "l2": 0.25, "initial_accumulator_value": 0.5}),
]
CASES += [(name, {}) for name in RULES if name not in dict(CASES)]


def native(name, fields, begin, **others):
    return library(name, begin, fields, const_lr={"learning_rate": RATE}, **others)


def numbers(case):
    return f"{case[0]} {' '.join(f'{key}={value}' for key, value in case[1].items())}"


@pytest.mark.parametrize("name, fields", CASES, ids=map(numbers, CASES))
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-6), ("float32", 1e-3)])
def test_rule(name, fields, dtype, tolerance):
    begin = values(dtype)
    found, p, state = native(name, fields, begin), begin.astype("float64"), {}
    for n, gradient in enumerate(gradients(STEPS, dtype), 1):
        found.update(gradient)
        p = RULES[name](p, gradient.astype("float64"), state, n, **fields)
    # Attributes are float32, so 0.9 is 0.9 + 2e-8: its effect over 100 steps is within the tolerance.
    np.testing.assert_allclose(found.view(), p, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("fields", [{}, {"decay": 0.1}])
def test_lazy_adam_corrects_for_all_updates(fields):
    """Rows that are named take the dense step; the others only decay."""
    begin = values("float64")
    found, p = native("Adam", fields, begin), begin.copy()
    state = {"m": np.zeros_like(p), "v": np.zeros_like(p)}
    for n, (rows, gradient) in enumerate(row_gradients(STEPS, "float64"), 1):
        found.update_rows(rows, gradient)
        whole = np.zeros_like(p)
        np.add.at(whole, rows, gradient)
        new_state = dict(state)
        moved, named = adam(p, whole, new_state, n, **fields), np.unique(rows)
        p = p - RATE * fields.get("decay", 0) * p
        p[named] = moved[named]
        for key in state:
            state[key][named] = new_state[key][named]
    np.testing.assert_allclose(found.parameter(), p, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", RULES)
def test_a_quadratic_falls(name):
    fields = {"Dpsgd": {"sigma": 0.0}, "Lars": {"lars_coeff": 0.5}}.get(name, {})
    curvature, begin = np.linspace(0.5, 2, 10), np.linspace(-1, 1.5, 10)
    found = native(name, fields, begin)

    def loss():
        return float((curvature * found.view() ** 2).sum())

    first = loss()
    for _ in range(STEPS):
        found.update(2 * curvature * found.view())
    assert loss() < first * (0.99 if name == "Adadelta" else 0.5)  # its first steps are short


def test_unset_fields_of_adam_are_the_papers():
    given = native("Adam", {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8}, values())
    unset = native("Adam", {}, values())
    for gradient in gradients(5):
        given.update(gradient)
        unset.update(gradient)
    assert given.parameter().tobytes() == unset.parameter().tobytes()


@pytest.mark.parametrize("change", ["clip_value", "clip_norm", "l1_rate", "l2_rate"])
def test_gradients_are_clipped_then_regularized(change):
    begin, rate = values("float64"), 0.5
    found, p = native("SGD", {}, begin, **{change: rate}), begin.copy()
    for g in gradients(STEPS, "float64"):
        found.update(g)
        clips = {"clip_value": np.clip(g, -rate, rate), "clip_norm": g * min(1, rate / np.linalg.norm(g))}
        penalties = {"l1_rate": rate * np.sign(p), "l2_rate": rate * p}
        p = p - RATE * (clips.get(change, g) + penalties.get(change, 0))
    np.testing.assert_allclose(found.view(), p, rtol=1e-6, atol=1e-6)
