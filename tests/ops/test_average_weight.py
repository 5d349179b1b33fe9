"""average_weight: the weight of the newest parameters in their average."""

import math

import numpy as np

import paddle_mini as pm
from harness import array, op_tests
from weight_steps import decay_of, window

FORGET = -1000.0  # the logarithm that represents 0

# The weight after u updates, from state = [...]: the logarithm of all decays, largest rate, sum of squared rates.
WEIGHTS = {
    "uniform": lambda u, state, attrs: 1 / u,
    "polynomial": lambda u, state, attrs: (attrs["exponent"] + 1) / (u + attrs["exponent"]),
    "power": lambda u, state, attrs: 1 - ((u - 1) / u) ** (attrs["exponent"] + 1),
    "constant": lambda u, state, attrs: 1 - float(decay_of(u, attrs)),
    "falling": lambda u, state, attrs: (
        1.0 if u == 1 else 1 / (attrs["warmup_length"] + attrs["warmup_rate"] * (u - 1)) ** attrs["warmup_power"]
    ),
    "first": lambda u, state, attrs: float(u == 1),
    "rate": lambda u, state, attrs: state[5] ** 2 / state[6] if state[6] else 1.0,
    "exponential": lambda u, state, attrs: (
        float((1 - decay_of(u, attrs)) / (1 - np.exp(np.longdouble(state[4]))))
        if attrs["bias_correction"]
        else 1.0
        if u == 1
        else 1 - float(decay_of(u, attrs))
    ),
}


def reference(inputs, attrs):
    count, state = [int(c) for c in inputs["Counters"]], [float(s) for s in inputs["State"]]

    def outputs(weight, roll=0):
        return {
            "CountersOut": np.array(count),
            "StateOut": np.array(state),
            "Weight": np.array([weight]),
            "Roll": np.array([roll], "int32"),
        }

    if not np.all(inputs.get("Updated", True)):
        return outputs(0.0)
    count[3] += 1
    state[2:4] = [state[2] + 1, state[3] + 1]
    if not np.all(inputs.get("Finite", True)):
        count[4] += 1
        return outputs(0.0)
    late, weight, roll = count[3] - attrs["start_step"], 0.0, 0
    counts = late > 0 and late % attrs["every"] == 0
    if counts:
        count[0] += 1
        if attrs["scheme"] == "exponential":
            decay = decay_of(count[0], attrs)
            state[4] += float(np.log(decay)) if decay else -math.inf
        if attrs["scheme"] == "rate":
            state[5] = max(state[5], float(inputs.get("LearningRate", np.ones(1)).reshape(())))
            state[6] += state[5] ** 2
        if attrs["scheme"] == "window":
            count[1] += 1
        weight = 1 / count[1] if attrs["scheme"] == "window" else WEIGHTS[attrs["scheme"]](count[0], state, attrs)
    elif count[0] == 0 and attrs["scheme"] != "constant":
        weight = 1.0
    if count[0]:  # the average stores nothing before the first update, so the step is not recorded
        state[0] += FORGET if weight == 1 else math.log(1 - weight)
    state[1] = (1 - weight) ** 2 * state[1] + weight**2
    state[2] *= 1 - weight
    if (
        attrs["scheme"] == "window"
        and counts
        and count[1] >= attrs["window_min"]
        and count[1] >= min(attrs["window_max"], attrs["window_rate"] * count[0])
    ):
        count[1:3], state[3], roll = [0, count[1]], state[2], 1
    return outputs(weight, roll)


def kept(*counters, log_decays=0.0, rates=(0.0, 0.0), **others):
    """Counters and a State with a history, with other inputs."""
    state = np.array([-2.5, 0.25, 3.5, 7.25, log_decays, *rates])
    return {"Counters": np.array(counters), "State": state, **others}


ORDINARY = {
    "uniform": {"scheme": "uniform"},
    "polynomial": {"scheme": "polynomial", "exponent": 3.0},
    "power": {"scheme": "power", "exponent": 6.94},
    "falling": {"scheme": "falling", "warmup_length": 10.0, "warmup_rate": 0.5, "warmup_power": 0.5},
    "falling at once": {"scheme": "falling", "warmup_length": 1.0, "warmup_power": 1.0},
    "constant": {"scheme": "constant", "decay": 0.9},
    "first": {"scheme": "first"},
    "exponential": {"scheme": "exponential", "decay": 0.9},
    "uncorrected": {"scheme": "exponential", "decay": 0.9, "bias_correction": False},
    "ratio": {"scheme": "exponential", "decay": 0.99, "warmup": "ratio"},
    "power of time": {"scheme": "exponential", "decay": 0.99, "warmup": "power", "warmup_length": 2.0, "warmup_power": 0.75},
    "uncorrected ratio": {"scheme": "exponential", "decay": 0.99, "warmup": "ratio", "bias_correction": False},
    "constant ratio": {"scheme": "constant", "decay": 0.99, "warmup": "ratio"},
}
COUNTS = {"first": (0, 0, 0, 0, 0), "second": (1, 0, 0, 1, 0), "later": (6, 0, 0, 8, 2), "late": (5000, 0, 0, 5000, 0)}
LOG_DECAYS = {"first": 0.0, "second": -0.105, "later": -0.7, "late": -40.0}
BIT = {"true": np.array([True]), "false": np.array([False])}

test_average_weight = op_tests(
    "average_weight",
    reference,
    cases={
        **{
            f"{name}, {count}": (kept(*COUNTS[count], log_decays=LOG_DECAYS[count]), attrs)
            for name, attrs in ORDINARY.items()
            for count in COUNTS
        },
        "first of a window": (kept(0, 0, 0, 0, 0), window(3)),
        "inside of a window": (kept(4, 1, 3, 4, 0), window(3)),
        "end of a window": (kept(5, 2, 3, 5, 0), window(3)),
        "window of one": (kept(5, 0, 1, 5, 0), window(1)),
        # A window that was made smaller in between ends at once.
        "window that shrank": (kept(9, 9, 0, 9, 0), window(3)),
        "part of the steps, too few": (kept(49, 9, 8, 49, 0), {"window_rate": 0.25, "window_min": 2, "window_max": 100}),
        "part of the steps": (kept(39, 9, 8, 39, 0), {"window_rate": 0.25, "window_min": 2, "window_max": 100}),
        "the largest window": (kept(999, 19, 20, 999, 0), {"window_rate": 0.25, "window_min": 2, "window_max": 20}),
        "the smallest window": (kept(5, 1, 3, 5, 0), {"window_rate": 0.1, "window_min": 3, "window_max": 20}),
        "before the start": (kept(0, 0, 0, 3, 0), {"scheme": "uniform", "start_step": 4}),
        "window before the start": (kept(0, 0, 0, 3, 0), window(3, start_step=4)),
        "constant before the start": (kept(0, 0, 0, 3, 0), {"scheme": "constant", "decay": 0.5, "start_step": 4}),
        "first after the start": (kept(0, 0, 0, 4, 0), {"scheme": "uniform", "start_step": 4}),
        "between two updates": (kept(2, 0, 0, 7, 0), {"scheme": "uniform", "every": 3}),
        "every third": (kept(2, 0, 0, 8, 0), {"scheme": "uniform", "every": 3}),
        "every third from the start": (kept(2, 0, 0, 12, 0), {"scheme": "uniform", "every": 3, "start_step": 4}),
        "between before the first": (kept(0, 0, 0, 0, 0), {"scheme": "uniform", "every": 3}),
        "exponential of every third": (
            kept(7, 0, 0, 23, 0, log_decays=-2.0),
            {"scheme": "exponential", "decay": 0.9, "every": 3},
        ),
        "ratio of every third": (
            kept(7, 0, 0, 23, 0, log_decays=-2.0),
            {"scheme": "exponential", "decay": 0.99, "warmup": "ratio", "every": 3},
        ),
        "power of every third": (
            kept(7, 0, 0, 23, 0, log_decays=-2.0),
            {"scheme": "exponential", "decay": 0.99, "warmup": "power", "every": 3},
        ),
        "constant of every third": (kept(7, 0, 0, 23, 0), {"scheme": "constant", "decay": 0.9, "every": 3}),
        "exponential without memory": (kept(0, 0, 0, 0, 0), {"scheme": "exponential", "decay": 0.0}),
        "constant without memory": (kept(7, 0, 0, 7, 0), {"scheme": "constant", "decay": 0.0}),
        "rate": (kept(4, 0, 0, 4, 0, rates=(0.5, 1.25), LearningRate=np.array([0.75])), {"scheme": "rate"}),
        "rate that fell": (kept(4, 0, 0, 4, 0, rates=(0.5, 1.25), LearningRate=np.array(0.25)), {"scheme": "rate"}),
        "rate 0 at first": (kept(0, 0, 0, 0, 0, LearningRate=np.zeros(1)), {"scheme": "rate"}),
        "first rate": (kept(3, 0, 0, 3, 0, LearningRate=np.array([0.5])), {"scheme": "rate"}),
        "no rate": (kept(4, 0, 0, 4, 0, rates=(1.0, 4.0)), {"scheme": "rate"}),
        "updated": (kept(4, 1, 3, 4, 0, Updated=BIT["true"]), window(3)),
        "not updated": (kept(4, 1, 3, 4, 0, Updated=BIT["false"]), window(3)),
        "finite": (kept(4, 0, 0, 4, 0, Updated=BIT["true"], Finite=BIT["true"]), {"scheme": "uniform"}),
        "not finite": (kept(4, 0, 0, 4, 1, Finite=BIT["false"]), {"scheme": "uniform"}),
        "not finite before the start": (kept(0, 0, 0, 1, 0, Finite=BIT["false"]), {"scheme": "uniform", "start_step": 4}),
        "neither updated nor finite": (kept(4, 0, 0, 4, 1, Updated=BIT["false"], Finite=BIT["false"]), window(5)),
    },
    refusals={
        "unknown scheme": (kept(0, 0, 0, 0, 0), {"scheme": "median"}, pm.ProgramError, "median window uniform power"),
        "unknown warm-up": (kept(0, 0, 0, 0, 0), {"warmup": "linear"}, pm.ProgramError, "linear ratio power none"),
        "window of none": (kept(0, 0, 0, 0, 0), {"window_min": 0}, pm.ProgramError, "window_min 0"),
        "smallest window above the largest": (
            kept(0, 0, 0, 0, 0),
            {"window_min": 5, "window_max": 4},
            pm.ProgramError,
            "window_min 5 window_max 4",
        ),
        "rate of a window 0": (kept(0, 0, 0, 0, 0), {"window_rate": 0.0}, pm.ProgramError, "window_rate 0"),
        "decay 1": (kept(0, 0, 0, 0, 0), {"decay": 1.0}, pm.ProgramError, "decay 1 below 1"),
        "negative exponent": (kept(0, 0, 0, 0, 0), {"exponent": -0.5}, pm.ProgramError, "exponent -0.5"),
        "warm-up of no length": (kept(0, 0, 0, 0, 0), {"warmup_length": 0.0}, pm.ProgramError, "warmup_length 0"),
        "power above 1": (kept(0, 0, 0, 0, 0), {"warmup_power": 1.5}, pm.ProgramError, "warmup_power 1.5"),
        "never": (kept(0, 0, 0, 0, 0), {"every": 0}, pm.ProgramError, "every 0"),
        "four counters": (kept(0, 0, 0, 0), {}, pm.ShapeError, "Counters [4] [5]"),
        "int32 counters": ({**kept(0), "Counters": np.zeros(5, "int32")}, {}, pm.ShapeError, "Counters int32 int64"),
        "six states": ({**kept(0, 0, 0, 0, 0), "State": np.zeros(6)}, {}, pm.ShapeError, "State [6] [7]"),
        "float32 state": ({**kept(0, 0, 0, 0, 0), "State": np.zeros(7, "float32")}, {}, pm.ShapeError, "State float32 float64"),
        "two bits": (kept(0, 0, 0, 0, 0, Updated=np.array([True, False])), {}, pm.ShapeError, "Updated [2] one element"),
        "whole bit": (kept(0, 0, 0, 0, 0, Finite=np.array([1])), {}, pm.ShapeError, "Finite int64 bool"),
        "whole rate": (kept(0, 0, 0, 0, 0, LearningRate=np.array([1])), {}, pm.ShapeError, "LearningRate int64"),
        "two rates": (kept(0, 0, 0, 0, 0, LearningRate=array(2)), {}, pm.ShapeError, "LearningRate [2] one element"),
    },
    float64=("State", "StateOut", "Weight"),
)
