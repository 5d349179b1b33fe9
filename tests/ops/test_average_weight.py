"""average_weight: how much the newest parameters weigh in their average."""
import numpy as np
import paddle_mini as pm
import pytest
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    updates, newer, older, steps = (int(c) for c in inputs["Counters"])
    weight, roll = 0.0, 0
    steps += 1
    if steps > attrs["start_step"] and (steps - attrs["start_step"]) % attrs["every"] == 0:
        updates += 1
        if attrs["scheme"] == "uniform":
            weight = 1 / updates
        elif attrs["scheme"] == "exponential":
            decay = attrs["decay"] ** attrs["every"]
            weight = (1 - decay) / (1 - decay**updates)
        else:
            newer += 1
            weight = 1 / newer
            if newer >= attrs["window_size"]:
                newer, older, roll = 0, newer, 1
    return {"CountersOut": np.array([updates, newer, older, steps]), "Weight": np.array([weight]),
            "Roll": np.array([roll], "int32")}


def counters(*values, dtype="int64"):
    return {"Counters": np.array(values, dtype)}


test_average_weight = op_tests(
    "average_weight",
    reference,
    cases={
        "first of a window": (counters(0, 0, 0, 0), {"scheme": "window", "window_size": 3}),
        "inside of a window": (counters(4, 1, 3, 4), {"scheme": "window", "window_size": 3}),
        "end of a window": (counters(5, 2, 3, 5), {"scheme": "window", "window_size": 3}),
        "window of one": (counters(5, 0, 1, 5), {"scheme": "window", "window_size": 1}),
        # A window that was made smaller in between ends at once.
        "window that shrank": (counters(9, 9, 0, 9), {"scheme": "window", "window_size": 3}),
        "first of all": (counters(0, 0, 0, 0), {"scheme": "uniform"}),
        "one of all": (counters(6, 0, 0, 6), {"scheme": "uniform"}),
        "before the start": (counters(0, 0, 0, 3), {"scheme": "uniform", "start_step": 4}),
        "first after the start": (counters(0, 0, 0, 4), {"scheme": "uniform", "start_step": 4}),
        "between two updates": (counters(2, 0, 0, 7), {"scheme": "uniform", "every": 3}),
        "every third": (counters(2, 0, 0, 8), {"scheme": "uniform", "every": 3}),
        "first of an exponential average": (counters(0, 0, 0, 0), {"scheme": "exponential", "decay": 0.9}),
        "exponential": (counters(7, 0, 0, 7), {"scheme": "exponential", "decay": 0.9}),
        "exponential of every third": (counters(7, 0, 0, 23), {"scheme": "exponential", "decay": 0.9, "every": 3}),
        "exponential without memory": (counters(7, 0, 0, 7), {"scheme": "exponential", "decay": 0.0}),
    },
    refusals={
        "unknown scheme": (counters(0, 0, 0, 0), {"scheme": "polynomial"}, pm.ProgramError,
                           "polynomial window uniform exponential"),
        "window of none": (counters(0, 0, 0, 0), {"window_size": 0}, pm.ProgramError, "window_size 0"),
        "decay 1": (counters(0, 0, 0, 0), {"decay": 1.0}, pm.ProgramError, "decay 1 below 1"),
        "never": (counters(0, 0, 0, 0), {"every": 0}, pm.ProgramError, "every 0"),
        "three counters": (counters(0, 0, 0), {}, pm.ShapeError, "Counters [3] [4]"),
        "int32 counters": (counters(0, 0, 0, 0, dtype="int32"), {}, pm.ShapeError, "Counters int32 int64"),
    },
)


def test_exponential_weights_keep_their_digits_close_to_one():
    # 1 - decay**updates would have lost half of them.
    decay, updates = 1 - 1e-9, 5
    weight = run_op("average_weight", counters(updates - 1, 0, 0, updates - 1),
                    {"scheme": "exponential", "decay": decay})["Weight"]
    np.testing.assert_allclose(weight, 1 / updates + (updates - 1) / (2 * updates) * 1e-9, rtol=1e-12)


# --- the three operators together ----------------------------------------------------------------------

SCHEMES = {
    "window of 7": {"scheme": "window", "window_size": 7},
    "window of 1": {"scheme": "window", "window_size": 1},
    "window of 600": {"scheme": "window", "window_size": 600},
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
        put(f"counters_{i}", np.zeros(4, "int64"))
        put(f"average_{i}", np.full(size, np.nan, dtype))  # what is there at first must not matter
        window = attrs["scheme"] == "window"
        if window:
            put(f"previous_{i}", np.full(size, np.nan, dtype))
        previous = {"Previous": f"previous_{i}"} if window else {}
        for _ in range(steps_in_a_run):
            block.append_op("average_weight", {"Counters": f"counters_{i}"},
                            {"CountersOut": f"counters_{i}", "Weight": f"weight_{i}", "Roll": f"roll_{i}"}, attrs)
            roll = {"Roll": f"roll_{i}", **previous} if window else {}
            block.append_op("parameter_average",
                            {"Param": "p", "Average": f"average_{i}", "Weight": f"weight_{i}", **roll},
                            {"AverageOut": f"average_{i}", **({"PreviousOut": f"previous_{i}"} if window else {})})
        block.append_op("average_value",
                        {"Param": "p", "Average": f"average_{i}", "Counters": f"counters_{i}", **previous},
                        {"Out": f"out_{i}"})
    return program, scope, [f"out_{i}" for i in range(len(settings))]


def expected_averages(settings, walk):
    """(setting, step) -> the average of the iterates so far, each by its definition."""
    found = []
    for attrs in settings:
        values, sums = [], [np.zeros_like(walk[0])]  # sums[n] of the first n that were taken
        top = bottom = 0.0
        for step, p in enumerate(walk, 1):
            late = step - attrs["start_step"]
            if late > 0 and late % attrs["every"] == 0:
                sums.append(sums[-1] + p)
                decay = attrs.get("decay", 1.0) ** attrs["every"]
                top, bottom = decay * top + p, decay * bottom + 1
            size = attrs.get("window_size")
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
        if step % 10 and step > 60:  # looks at every step at first, later at some
            executor.run(program, scope=scope)
            continue
        found = executor.run(program, fetch_list=names, scope=scope)
        for name, one, other in zip(AVERAGES, found, expected):
            np.testing.assert_allclose(one, other[step], rtol=tolerance, atol=tolerance,
                                       err_msg=f"{name}, step {step + 1}")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_hundred_thousand_steps_of_a_constant(scheme):
    program, scope, names = averaging_program([SCHEMES[scheme]], "float32", 3, steps_in_a_run=100)
    scope.set("p", np.full(3, 0.1, "float32"))
    executor = pm.Executor(pm.CPUPlace())
    for _ in range(1000):
        value, = executor.run(program, fetch_list=names, scope=scope)
    assert scope.get("counters_0")[3] == 100_000
    np.testing.assert_array_equal(value, np.float32(0.1))  # a + w (p - a) has p as its fixed point
