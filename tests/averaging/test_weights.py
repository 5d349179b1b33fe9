"""average_weight, parameter_average and average_value step by step: every scheme equals its definition."""

import math

import numpy as np
import pytest

import paddle_mini as pm
from harness import array
from paddle_mini.averaging.averaged_parameter import SUMS
from paddle_mini.averaging.running import COUNTERS, STATE
from weight_steps import Weights, decay_of, window


def shares_of(weights):
    """The weight of each step in the average."""
    shares = np.zeros(0)
    for weight in weights:
        shares = np.append(shares * (1 - weight), weight)
    return shares


RISING = np.concatenate([np.linspace(0.001, 0.1, 20), np.linspace(0.1, 0.01, 60)])  # learning rates
# Not normalized: the weight of step s of t by the scheme's definition.
PROFILES = {
    "uniform": ({"scheme": "uniform"}, lambda s, t: s**0),
    "uniform at exponent 0": ({"scheme": "polynomial", "exponent": 0.0}, lambda s, t: s**0),
    "polynomial": ({"scheme": "polynomial", "exponent": 3.0}, lambda s, t: s * (s + 1) * (s + 2)),
    "polynomial, no whole exponent": (
        {"scheme": "polynomial", "exponent": 1.5},
        lambda s, t: np.array([math.gamma(i + 1.5) / math.gamma(i) for i in s]),
    ),
    "power": ({"scheme": "power", "exponent": 6.94}, lambda s, t: (s / t) ** 7.94 - ((s - 1) / t) ** 7.94),
    "exponential": ({"scheme": "exponential", "decay": 0.9}, lambda s, t: 0.9 ** (t - s)),
    "uncorrected": (
        {"scheme": "exponential", "decay": 0.9, "bias_correction": False},
        lambda s, t: 0.9 ** (t - s) * np.where(s == 1, 1, 0.1),
    ),
    "first": ({"scheme": "first"}, lambda s, t: 1.0 * (s == 1)),
    "window": (window(7), lambda s, t: 1.0 * (s > (t - 1) // 7 * 7)),
    "rate": ({"scheme": "rate"}, lambda s, t: np.maximum.accumulate(RISING)[:t] ** 2),
}


@pytest.mark.parametrize("name", PROFILES)
def test_every_step_has_its_share(name):
    attrs, profile = PROFILES[name]
    op, weights = Weights(attrs, **({"LearningRate": np.zeros(1)} if name == "rate" else {})), []
    for t in range(1, 81):
        weights.append(op.step(**({"LearningRate": RISING[t - 1 : t]} if name == "rate" else {}))[0])
        steps = np.arange(1.0, t + 1)
        expected = profile(steps, t)
        expected = expected / expected.sum()
        np.testing.assert_allclose(shares_of(weights), expected, rtol=1e-9, atol=1e-14)
        # Inputs of the statistics: 1 / effective number of members, and the mean age.
        age = op.state[3] if attrs["scheme"] == "window" and t % 7 == 0 else op.state[2]
        np.testing.assert_allclose(op.state[1], np.sum(expected**2), rtol=1e-9)
        np.testing.assert_allclose(age, np.sum(expected * (t - steps)), rtol=1e-9, atol=1e-12)
        if name != "window":
            np.testing.assert_allclose(np.exp(op.state[0] + 1000), np.prod(1 - np.array(weights[1:])), rtol=1e-9)


WARM = {
    "no warm-up": {},
    "ratio": {"warmup": "ratio"},
    "power": {"warmup": "power", "warmup_length": 1.0, "warmup_power": 2 / 3},
    "slow power": {"warmup": "power", "warmup_length": 50.0, "warmup_power": 1.0},
    "every third": {"warmup": "ratio", "every": 3},
}


@pytest.mark.parametrize("decay", [0.5, 0.99, 0.9999])
@pytest.mark.parametrize("warm", WARM)
def test_the_correction_is_the_product_of_the_decays_that_were_used(warm, decay):
    # Adam's method: a sum that begins with 0, divided by 1 - b_1 ... b_u (Kingma & Ba 2015, section 3).
    attrs = {"scheme": "exponential", "decay": decay, "every": 1, "warmup": "none", **WARM[warm]}
    op, product, total, average = Weights(attrs), np.longdouble(1), np.longdouble(0), np.nan
    walk = 3 + np.cumsum(array(2000, low=-0.05, high=0.05))
    for u, p in enumerate(walk, 1):
        for _ in range(attrs["every"] - 1):
            assert op.step()[0] == (u == 1)
        weight, _ = op.step()
        b = decay_of(u, attrs)
        product, total = product * b, b * total + (1 - b) * np.longdouble(p)
        average = p if weight == 1 else average + weight * (p - average)
        if u <= 50 or u % 50 == 0:
            np.testing.assert_allclose(weight, float((1 - b) / (1 - product)), rtol=1e-12)
            np.testing.assert_allclose(average, float(total / (1 - product)), rtol=1e-12)
    np.testing.assert_allclose(op.state[4], float(np.log(product)), rtol=1e-12)


def test_exponential_weights_keep_their_digits_close_to_one():
    # 1 - decay**updates would have lost half of the digits.
    op = Weights({"scheme": "exponential", "decay": 1 - 1e-9})
    for u in range(1, 6):
        np.testing.assert_allclose(op.step()[0], 1 / u + (u - 1) / (2 * u) * 1e-9, rtol=1e-12)


def test_power_weights_keep_their_digits_after_many_updates():
    u, e = 10**12, 6.94
    op = Weights({"scheme": "power", "exponent": e})
    op.scope.set("Counters", np.array([u - 1, 0, 0, u - 1, 0]))
    np.testing.assert_allclose(op.step()[0], (e + 1) / u * (1 - e / 2 / u), rtol=1e-14)


@pytest.mark.parametrize(
    "rate, least, most",
    [(0.15, 3, 40), (0.5, 1, 10**6), (1.0, 1, 10**6), (0.01, 7, 9), (0.15, 10000, 10000), (1e-6, 4, 100), (2.0, 5, 30)],
)
def test_generations_end_by_the_rule_of_paddlepaddle(rate, least, most):
    # ModelAverage: average_accumulates, with its sums in place of our means.
    op = Weights({"window_rate": rate, "window_min": least, "window_max": most})
    accumulates = older = 0
    for updates in range(1, 501):
        accumulates, ends = accumulates + 1, 0
        weight = 1 / accumulates
        if accumulates >= least and accumulates >= min(most, updates * rate):
            older, accumulates, ends = accumulates, 0, 1
        assert op.step() == (weight, ends)
        assert op.counters == [updates, accumulates, older, updates, 0]


def test_steps_that_did_not_happen_do_not_count():
    attrs = {"scheme": "exponential", "decay": 0.9, "every": 2, "start_step": 3}
    op, plain = Weights(attrs, Updated=np.array([True])), Weights(attrs)
    for updated in array(60) > 0:
        before = op.counters, op.state.tolist()
        found = op.step(Updated=np.array([updated]))
        if updated:
            assert found == plain.step()
        else:
            assert (found, (op.counters, op.state.tolist())) == ((0.0, 0), before)
    assert op.counters == plain.counters and op.counters[3] > 20
    np.testing.assert_array_equal(op.state, plain.state)


def test_steps_that_are_not_finite_are_counted_apart():
    op, skipped = Weights({"scheme": "uniform"}, Finite=np.array([True])), 0
    for step, finite in enumerate(array(40) > -0.5, 1):
        weight, _ = op.step(Finite=np.array([finite]))
        skipped += not finite
        assert weight == (1 / (step - skipped) if finite else 0)
        assert op.counters == [step - skipped, 0, 0, step, skipped]
    assert 5 < skipped < 20


# --- the three operators together ----------------------------------------------------------------------

SCHEMES = {
    "window of 7": window(7),
    "window of 1": window(1),
    "window of 600": window(600),
    "uniform": {"scheme": "uniform"},
    "exponential": {"scheme": "exponential", "decay": 0.99},
    "slow exponential": {"scheme": "exponential", "decay": 0.9999},
}
TIMINGS = {f"every {n} from {start}": {"every": n, "start_step": start} for n in (1, 3) for start in (0, 10)}
AVERAGES = {f"{s}, {t}": {**SCHEMES[s], **TIMINGS[t]} for s in SCHEMES for t in TIMINGS}


def averaging_program(settings, dtype, size, steps_in_a_run=1):
    """Every setting averages the one parameter `p`; out_i is the value of the i-th."""
    program, scope = pm.Program(), pm.Scope()
    block = program.global_block()

    def put(name, value):
        block.create_var(name, dtype=value.dtype, shape=value.shape, persistable=True)
        scope.set(name, value)

    put("p", np.zeros(size, dtype))
    for i, attrs in enumerate(settings):
        put(f"counters_{i}", np.zeros(5, "int64"))
        put(f"state_{i}", np.zeros(7))
        put(f"average_{i}", np.full(size, np.nan, dtype))  # initial values must not matter
        is_window = attrs["scheme"] == "window"
        if is_window:
            put(f"previous_{i}", np.full(size, np.nan, dtype))
        previous = {"Previous": f"previous_{i}"} if is_window else {}
        for _ in range(steps_in_a_run):
            block.append_op(
                "average_weight",
                {"Counters": f"counters_{i}", "State": f"state_{i}"},
                {"CountersOut": f"counters_{i}", "StateOut": f"state_{i}", "Weight": f"weight_{i}", "Roll": f"roll_{i}"},
                attrs,
            )
            roll = {"Roll": f"roll_{i}", **previous} if is_window else {}
            block.append_op(
                "parameter_average",
                {"Param": "p", "Average": f"average_{i}", "Weight": f"weight_{i}", **roll},
                {"AverageOut": f"average_{i}", **({"PreviousOut": f"previous_{i}"} if is_window else {})},
            )
        block.append_op(
            "average_value",
            {"Param": "p", "Average": f"average_{i}", "Counters": f"counters_{i}", **previous},
            {"Out": f"out_{i}"},
        )
    return program, scope, [f"out_{i}" for i in range(len(settings))]


def expected_averages(settings, walk):
    """(setting, step) -> the average of the iterates so far, each by its definition."""
    found = []
    for attrs in settings:
        values, sums = [], [np.zeros_like(walk[0])]  # sums[n] is the sum of the first n members
        top = bottom = 0.0
        for step, p in enumerate(walk, 1):
            late = step - attrs["start_step"]
            if late > 0 and late % attrs["every"] == 0:
                sums.append(sums[-1] + p)
                decay = attrs.get("decay", 1.0) ** attrs["every"]
                top, bottom = decay * top + p, decay * bottom + 1
            size = attrs.get("window_min")
            taken = len(sums) - 1
            newest = taken if not size or taken < size else size + taken % size
            if not taken:
                values.append(p)
            elif size:
                values.append((sums[-1] - sums[-1 - newest]) / newest)  # `newest` runs through size .. 2 size - 1
            else:
                values.append(top / bottom)
        found.append(values)
    return found


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float32", 2e-5)])
def test_every_scheme_against_its_definition(dtype, tolerance):
    settings = list(AVERAGES.values())
    walk = 1 + np.cumsum(array(2100, 3, low=-0.05, high=0.05), axis=0).astype(dtype)
    program, scope, names = averaging_program(settings, dtype, 3)
    executor = pm.Executor(pm.CPUPlace())
    expected = expected_averages(settings, walk.astype("float64"))
    for step, p in enumerate(walk):
        scope.set("p", p)
        if step % 10 and step > 60:  # averages every step at first, later only some
            executor.run(program, scope=scope)
            continue
        found = executor.run(program, fetch_list=names, scope=scope)
        for name, one, other in zip(AVERAGES, found, expected):
            np.testing.assert_allclose(one, other[step], rtol=tolerance, atol=tolerance, err_msg=f"{name}, step {step + 1}")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_hundred_thousand_steps_of_a_constant(scheme):
    program, scope, names = averaging_program([SCHEMES[scheme]], "float32", 3, steps_in_a_run=100)
    scope.set("p", np.full(3, 0.1, "float32"))
    executor = pm.Executor(pm.CPUPlace())
    for _ in range(1000):
        (value,) = executor.run(program, fetch_list=names, scope=scope)
    assert scope.get("counters_0")[3] == 100_000
    np.testing.assert_array_equal(value, np.float32(0.1))  # a + w (p - a) has p as its fixed point


KEPT = {"Counters": (COUNTERS, "int64"), "State": (STATE, "float64"), "Sums": (SUMS, "float64")}


@pytest.mark.parametrize("port", KEPT)
def test_the_operators_take_what_is_kept_for_them(port):
    """The sizes are in running.py and in the schemas: an operator accepts one size only."""
    block = pm.default_main_program().global_block()
    param = block.create_var("p", shape=[3], dtype="float32")
    weight = block.create_var("w", shape=[1], dtype="float64")

    def takes(count):
        kept = {
            name: block.create_var(f"{name}_{count}", shape=[count if name == port else size], dtype=dtype)
            for name, (size, dtype) in KEPT.items()
        }
        sums = kept.pop("Sums")
        out = {"CountersOut": kept["Counters"], "StateOut": kept["State"], "Weight": weight, "Roll": f"roll_{count}"}
        average = {"Param": param, "Average": param, "Weight": weight, "Block": param, "Sums": sums}
        try:
            block.append_op("average_weight", kept, out)
            block.append_op("parameter_average", average, {"AverageOut": param, "BlockOut": param, "SumsOut": sums})
        except pm.ShapeError:
            return False
        return True

    assert [count for count in range(1, 12) if takes(count)] == [KEPT[port][0]]
