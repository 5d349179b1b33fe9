"""average_rows: updates the averages of some rows of a table."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import Rows, array, generator, op_tests, run_op
from paddle_mini.testing.one_op import OneOp
from thorough import some
from weight_steps import Weights, window


def reference(inputs, attrs):
    p, average, stamps = inputs["Param"], inputs["Average"].copy(), inputs["RowStamps"].copy()
    updates, newer, older = (int(c) for c in inputs["Counters"][:3])
    if "Previous" not in inputs:
        now = inputs["State"][0]
        for row in set(inputs["Rows"].rows):
            average[row] = p[row] + np.exp(now - stamps[row]) * (average[row] - p[row])
            stamps[row] = now
        return {"AverageOut": average, "RowStampsOut": stamps}
    # The members of each generation one by one: those up to the stamp have the stored mean, the others were p.
    previous = inputs["Previous"].copy()
    for row in {row for row in inputs["Rows"].rows if stamps[row] != updates}:
        begin, kept = updates - newer, average[row].copy()
        if stamps[row] < begin:  # the stored mean belongs to the previous generation, or an older one
            members = [kept if update <= stamps[row] else p[row] for update in range(begin - older + 1, begin + 1)]
            previous[row] = np.mean(members, axis=0) if members else p[row]
            kept = p[row]
        members = [kept if update <= stamps[row] else p[row] for update in range(begin + 1, updates + 1)]
        average[row] = np.mean(members, axis=0) if members else p[row]
        stamps[row] = updates
    return {"AverageOut": average, "PreviousOut": previous, "RowStampsOut": stamps}


def table(*shape, rows, stamps, counters=(9, 0, 0, 9, 0), log=-3.0, previous=False):
    inputs = {
        "Param": array(*shape),
        "Rows": Rows(rows, array(len(rows), *shape[1:], seed=2), shape[0]),
        "Average": array(*shape, seed=1),
        "Counters": np.array(counters),
        "State": np.array([log, 0.1, 2, 3, 0, 0, 0]),
        "RowStamps": np.array(stamps, "float64"),
    }
    return {**inputs, "Previous": array(*shape, seed=3)} if previous else inputs


def of_window(newer, older, rows, *shape):
    return table(
        *(shape or (7, 4)), rows=rows, stamps=[14, 11, 10, 7, 4, 2, 0], counters=(14, newer, older, 14, 0), previous=True
    )


def with_one(value, row, inputs):
    inputs["Param"][row, -1] = value
    return inputs


OLD = [-3.0, -2.5, 0.0, -2.999, -1.0]  # the first row is up to date
EVERY = [3, 0, 6, 1, 5, 2, 4]

test_average_rows = op_tests(
    "average_rows",
    reference,
    cases={
        "some rows": (table(5, 7, rows=[3, 1], stamps=OLD), {}),
        "all rows": (table(5, 40, rows=[4, 0, 2, 3, 1], stamps=OLD), {}),
        "rows that repeat": (table(5, 7, rows=[2, 1, 2, 2, 1], stamps=OLD), {}),
        "a row that is up to date": (table(5, 7, rows=[0], stamps=OLD), {}),
        "no row": (table(5, 7, rows=[], stamps=OLD), {}),
        "a forgotten row": (table(5, 7, rows=[2, 0], stamps=OLD, log=-1003.0), {}),
        "more rows than are fetched ahead": (table(30, 3, rows=[*range(29, -1, -1), 7], stamps=[-0.1] * 30), {}),
        "finite": (table(5, 7, rows=[3, 1], stamps=OLD), {"check_finite": True}),
        "numbers": (table(5, rows=[3, 1], stamps=OLD), {}),
        "matrices": (table(5, 3, 2, rows=[3, 1], stamps=OLD), {}),
        "empty rows": (table(5, 0, rows=[3], stamps=OLD), {"check_finite": True}),
        "no table": (table(0, 4, rows=[], stamps=[]), {}),
        "two generations": (of_window(4, 6, EVERY), {}),
        "first generation": (of_window(14, 0, EVERY), {}),
        "a generation just ended": (of_window(0, 10, EVERY), {"check_finite": True}),
        "generations of one": (of_window(1, 1, EVERY), {}),
        "some rows of a window": (of_window(4, 6, [3, 3, 5]), {}),
        "numbers of a window": (of_window(4, 6, [3, 5], 7), {}),
    },
    refusals={
        "a dense gradient": ({**table(5, 7, rows=[1], stamps=OLD), "Rows": array(5, 7)}, {}, pm.ShapeError, "Rows selected rows"),
        "other table": (
            {**table(5, 7, rows=[1], stamps=OLD), "Rows": Rows([1], array(1, 7), 6)},
            {},
            pm.ShapeError,
            "Param [5, 7] Rows [6, 7]",
        ),
        "other average": (
            {**table(5, 7, rows=[1], stamps=OLD), "Average": array(5, 6)},
            {},
            pm.ShapeError,
            "Param [5, 7] Average [5, 6]",
        ),
        "other dtype": (
            {**table(5, 7, rows=[1], stamps=OLD), "Average": array(5, 7).astype("float32")},
            {},
            pm.ShapeError,
            "Average float32",
        ),
        "other previous": ({**of_window(4, 6, [1]), "Previous": array(7, 5)}, {}, pm.ShapeError, "Previous [7, 5]"),
        "other stamps": (table(5, 7, rows=[1], stamps=[0] * 4), {}, pm.ShapeError, "RowStamps [4] [5]"),
        "four counters": (table(5, 7, rows=[1], stamps=OLD, counters=[0] * 4), {}, pm.ShapeError, "Counters [4] [5]"),
        "other state": ({**table(5, 7, rows=[1], stamps=OLD), "State": array(6)}, {}, pm.ShapeError, "State [6] [7]"),
        "NaN": (with_one(np.nan, 1, table(5, 7, rows=[1, 3], stamps=OLD)), {"check_finite": True}, pm.OpError, "row 1 Param nan"),
        "infinity": (with_one(-np.inf, 1, of_window(4, 6, [1, 3])), {"check_finite": True}, pm.OpError, "row 1 Param -inf"),
    },
    float64=("State", "RowStamps", "RowStampsOut"),
)


# --- against the average of the whole table in every step --------------------------------------------

ROWS, WIDTH = 9, 5
SCHEDULES = {
    "uniform": {"scheme": "uniform"},
    "exponential": {"scheme": "exponential", "decay": 0.9},
    "uncorrected": {"scheme": "exponential", "decay": 0.9, "bias_correction": False},
    "warm-up by ratio": {"scheme": "exponential", "decay": 0.999, "warmup": "ratio"},
    "warm-up by power": {"scheme": "exponential", "decay": 0.99, "warmup": "power", "warmup_length": 2.0},
    "without memory": {"scheme": "exponential", "decay": 0.0},
    "polynomial": {"scheme": "polynomial", "exponent": 3.0},
    "power": {"scheme": "power", "exponent": 6.94},
    "falling": {"scheme": "falling", "warmup_length": 10.0, "warmup_power": 0.5},
    "constant": {"scheme": "constant", "decay": 0.9},
    "first": {"scheme": "first"},
    "window of 1": window(1),
    "window of 4": window(4),
    "window of 100": window(100),
    "part of the steps": {"window_rate": 0.3, "window_min": 2, "window_max": 11},
}
TIMINGS = {f"every {n} from {start}": {"every": n, "start_step": start} for n in (1, 3) for start in (0, 10)}


class Repeated:
    """An operator in one program, which runs with other inputs each time."""

    def __init__(self, op_type):
        self.op_type, self.one = op_type, None

    def run(self, inputs):
        if self.one is None:
            self.one = OneOp(self.op_type, inputs, {})
        for port, value in inputs.items():
            self.one.put(f"{port}_0", value)
        return self.one.run()


class Averages:
    """A table's average, by rows or as a whole."""

    def __init__(self, param, attrs, op_type):
        self.op, self.value_op = Repeated(op_type), Repeated("average_value")
        self.values = {"Average": param.copy()}
        if attrs.get("scheme", "window") == "window":
            self.values["Previous"] = param.copy()

    def step(self, **inputs):
        found = self.op.run({**inputs, **self.values})
        self.values.update({name[:-3]: value for name, value in found.items()})

    def value(self, param, weights):
        more = {"State": weights.state} if "RowStamps" in self.values else {}
        inputs = {"Param": param, "Counters": weights.scope.get("Counters"), **self.values, **more}
        return self.value_op.run(inputs)["Out"]


def touched(step):
    """Rows of one gradient: some twice, sometimes none, the last one never."""
    random = generator((step,), 5)
    return [] if step % 7 == 0 else random.integers(0, ROWS - 1, random.integers(1, 5)).tolist()


def changed(param, rows, step):
    param = param.copy()
    for row in set(rows):
        param[row] += array(WIDTH, low=-0.3, high=0.3, seed=100 * step + row).astype(param.dtype)
    return param


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float32", 1e-6)])
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("schedule", some(SCHEDULES, 2))
def test_rows_are_averaged_as_if_in_every_step(schedule, timing, dtype, tolerance):
    attrs = {**SCHEDULES[schedule], **TIMINGS[timing]}
    param = array(ROWS, WIDTH).astype(dtype)
    weights, rows, whole = Weights(attrs), Averages(param, attrs, "average_rows"), Averages(param, attrs, "parameter_average")
    rows.values["RowStamps"] = np.zeros(ROWS)
    for step in range(1, 71):
        gradient = Rows(touched(step), array(len(touched(step)), WIDTH).astype(dtype), ROWS)
        rows.step(Param=param, Rows=gradient, Counters=weights.scope.get("Counters"), State=weights.state)
        param = changed(param, gradient.rows, step)
        weight, roll = weights.step()
        generation = {"Roll": np.array([roll], "int32")} if "Previous" in whole.values else {}
        whole.step(Param=param, Weight=np.array([weight]), **generation)
        np.testing.assert_allclose(
            rows.value(param, weights), whole.value(param, weights), rtol=tolerance, atol=tolerance, err_msg=f"step {step}"
        )


@pytest.mark.parametrize("start", [1000, 10**6])
def test_the_steps_that_are_left_out_cost_no_digits(start):
    # The average stores the difference of two logarithms, which these initial values must not make large.
    first, second = array(2, 3), array(2, 3, seed=1)
    weights = Weights({"scheme": "uniform", "start_step": start})
    weights.run(start + 100)
    found = run_op(
        "average_rows",
        {
            "Param": first,
            "Rows": Rows([0, 1], array(2, 3), 2),
            "Average": first,
            "Counters": weights.scope.get("Counters"),
            "State": weights.state,
            "RowStamps": np.zeros(2),
        },
    )
    weights.run(900)
    value = run_op(
        "average_value",
        {
            "Param": second,
            "Average": found["AverageOut"],
            "State": weights.state,
            "Counters": weights.scope.get("Counters"),
            "RowStamps": found["RowStampsOut"],
        },
    )
    np.testing.assert_allclose(value["Out"], 0.1 * first + 0.9 * second, rtol=1e-11)


# --- values that are not finite ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("previous", [False, True])
def test_a_refused_row_keeps_its_average_and_its_stamp(dtype, value, previous):
    inputs = of_window(4, 6, [1, 6, 2]) if previous else table(5, 7, rows=[1, 4, 2], stamps=OLD)
    bad, later = inputs["Rows"].rows[1:]
    inputs = {
        port: item.astype(dtype) if port in ("Param", "Average", "Previous") else item
        for port, item in with_one(value, bad, inputs).items()
    }
    inputs["Rows"].values = inputs["Rows"].values.astype(dtype)
    one = OneOp("average_rows", inputs, {"check_finite": True})
    with pytest.raises(pm.OpError, match=f"row {bad} of Param holds {value}"):
        one.run()
    for port in ["Average", "RowStamps"] + ["Previous"] * previous:
        found = one.scope.get(f"{port}_0")
        np.testing.assert_array_equal(found[[bad, later]], inputs[port][[bad, later]], port)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("previous", [False, True])
def test_unchecked_where_a_row_is_not_finite_its_average_stays(value, previous):
    # Like a whole table, whose steps are skipped while it is not finite; other elements of the row continue.
    inputs = with_one(value, 1, of_window(4, 6, [1, 3]) if previous else table(5, 7, rows=[1, 3], stamps=OLD))
    found = run_op("average_rows", inputs)
    assert found["AverageOut"][1, -1] == inputs["Average"][1, -1]
    assert np.isfinite(found["AverageOut"]).all() and (found["AverageOut"][1] != inputs["Average"][1]).any()
    counters = {"Counters": inputs["Counters"], "State": inputs["State"]}
    kept = {name[:-3]: value for name, value in found.items()}
    value = run_op("average_value", {"Param": inputs["Param"], **counters, **kept})["Out"]
    assert np.isfinite(value).all()
    if not previous:
        assert value[1, -1] == inputs["Average"][1, -1]
